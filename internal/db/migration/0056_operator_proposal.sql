-- kobo: serves 45
-- +goose Up

-- Acts of operators that wait for a second operator. The company is empty for acts that concern no
-- company. The acts are JSON without secrets.
CREATE TABLE operator_proposal (
    id          TEXT   NOT NULL,
    company     TEXT   NOT NULL,
    acts        TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('PROPOSED', 'APPROVED', 'REJECTED', 'WITHDRAWN', 'DEAD')),
    proposed_by TEXT   NOT NULL,
    decided_by  TEXT   NOT NULL,
    note        TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    decided_at  BIGINT NOT NULL,
    PRIMARY KEY (id)
);

-- The acts of proposals that were done. The commit of an act inserts its row, so no act is done twice.
CREATE TABLE operator_act (
    company_id  TEXT   NOT NULL,
    proposal_id TEXT   NOT NULL,
    position    BIGINT NOT NULL,
    done_at     BIGINT NOT NULL,
    PRIMARY KEY (company_id, proposal_id, position)
);

CREATE INDEX operator_act_proposal ON operator_act (proposal_id);

-- +goose Down
DROP TABLE operator_act;
DROP TABLE operator_proposal;
