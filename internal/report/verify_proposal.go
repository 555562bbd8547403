package report

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/kobo-waas/kobo/internal/db"
)

// proposalLine is what the audit log records about a proposal of an operator.
type proposalLine struct {
	Proposal   string `json:"proposal"`
	ActsDigest string `json:"actsDigest"` // "" in a line of an earlier release
	by         string
}

// addProposal keeps what an audit line records about a proposal.
func (e *evidence) addProposal(row []string, isSigned bool) error {
	line := proposalLine{by: row[2]}
	if err := json.Unmarshal([]byte(row[6]), &line); err != nil || line.Proposal == "" {
		return err
	}
	if e.proposals == nil {
		e.proposals = map[string]proposalLine{}
	}
	if isSigned {
		e.proposals[line.Proposal] = line
	} else if row[7] == "0" && row[8] == "" {
		e.unsignedProposals = append(e.unsignedProposals, line)
	}
	return nil
}

// checkProposals compares each proposal with the signed line of the audit log that records it. A row
// without such a line was written into the database, and not by an operator's request.
func (e *evidence) checkProposals(ctx context.Context, q db.Querier) error {
	if e.signer == nil {
		return nil
	}
	if !e.adopted {
		for _, line := range e.unsignedProposals {
			if e.proposals[line.Proposal].Proposal == "" {
				e.proposals[line.Proposal] = line
			}
		}
	}
	last := ""
	return db.Pages(ctx, q, allProposals, 3, func() []any { return []any{last} }, func(row []string) error {
		sum := sha256.Sum256([]byte(row[2]))
		line := e.proposals[row[0]]
		if line.by != row[1] || line.ActsDigest != "" && line.ActsDigest != hex.EncodeToString(sum[:]) {
			e.wrong("operator_proposal "+row[0], "a signed audit line with this proposer and these acts", "none")
		}
		last = row[0]
		return nil
	})
}

// allProposals selects the proposals in the order of their ids.
const allProposals = `SELECT id, proposed_by, acts FROM operator_proposal WHERE id >= $1 ORDER BY id`
