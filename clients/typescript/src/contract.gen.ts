// Written by scripts/generate.mjs from internal/api/openapi.yaml. Do not edit.

import type { Kobo } from "./money.js";

export interface paths {
    "/api/v1/auth/generate-token/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get tokens for an API key
         * @description Exchanges the company's API key for an access token (15 minutes) and a refresh token. **Every call replaces the refresh token:** earlier
         *     ones stop working. Takes no body.
         *
         *     Tokens are given only while the business is live and its verification (KYB) is `APPROVED` or `CHANGES_REQUESTED`.
         */
        post: operations["generateToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/refresh-access-token/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a new access token
         * @description Gives a new access token for the most recent refresh token. The refresh token stays the same. Needs no `Authorization` header. The
         *     state of the company is read anew.
         */
        post: operations["refreshAccessToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/claim-key/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a key token for an API key
         * @description The operator of a live deployment never sees your API keys. You get a key token instead, which works **once** and for 24 hours. A later
         *     key token replaces an unused one. The API key is shown only here: store it. If the answer was lost, ask the operator for another token,
         *     and for the revocation of the key that you did not receive.
         *
         *     **If your first use of a token answers `Key token was used already`, somebody else has your API key.** Ask the operator at once to
         *     revoke it. If `otherKeys` is more than the number of keys that you have, somebody else has a key too.
         */
        post: operations["claimKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coop/initiate-kyc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a signatory an OTP
         * @description Sends a one-time password to the phone of a BVN. The BVN belongs to a signatory of your company. A company has one open session
         *     for a BVN. A repeated request uses the same session and another of its **three** attempts, at the earliest **60 seconds** after
         *     the last attempt, failed ones included. The count begins anew a day after the last attempt.
         *
         *     `session_id` and `kyc_id` are the same here: use it to resend and to validate. It is not the `kyc_id` that opens the account. The
         *     BVN is stored encrypted and is in no answer.
         */
        post: operations["initiateCorporateKyc"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coop/retry-otp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the OTP again
         * @description Sends another OTP, and the earlier one is void. Each OTP, the first included, uses one of the session's three attempts. (The body
         *     is not checked by rules: without `session_id` the answer is a 500.)
         */
        post: operations["retryCorporateOtp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coop/validate-kyc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate the OTP
         * @description Proves the signatory's identity. The `kyc_id` in the answer is **new**: it is the one that opens the account. A wrong OTP leaves
         *     the session open and uses up no attempt. The OTP goes to the provider unchanged.
         */
        post: operations["validateCorporateKyc"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coop/generate-account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the company's bank account
         * @description Opens the company's own bank account ("COOP subaccount"). Payments into it are credited to a settlement account: that of
         *     `settlementId`, or the company's default one. Its own `balance` is therefore always 0.
         *
         *     If the bank answers with an account that you already have, the answer shows that account. If it is not known whether the account
         *     was opened, the answer is a 400 with the word `being_confirmed`. Repeat the request then: it first looks for the account and opens no
         *     second one.
         */
        post: operations["generateCorporateAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/customer/create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a customer
         * @description Creates a customer and sends an OTP to the phone of their BVN, as attempt 1 of 3. If no OTP could be sent there is **no
         *     customer**: you may use the e-mail address again, with the same BVN after 60 seconds, with another BVN at once. The BVN is stored
         *     encrypted and is in no answer.
         *
         *     If the account was refused because the name does not match the BVN, the same e-mail address corrects this customer, who keeps the id.
         */
        post: operations["createCustomer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/customer/resend-otp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a customer's OTP again
         * @description Sends another OTP, and the earlier one is void. At most two, a minute apart.
         */
        post: operations["resendCustomerOtp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/customer/generate-account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a customer's bank account
         * @description Opens the customer's one dedicated account; the OTP proves their identity. The answer has no account details: fetch the customer for
         *     `bankAccount.accountNumber`. Credits go into the settlement account of `settlementId`, or into the company's default one.
         *
         *     If it is not known whether the account was opened, the answer is a 400 with the word `being_confirmed`. Repeat the request then: it
         *     first looks for the account and opens no second one.
         *
         *     The customer's name is compared with the name that the bank has for the BVN: `nameMatch` of the customer is the result. A deployment can refuse a
         *     name that does not match. Then create the customer again with the same e-mail address and the right name. This corrects the
         *     customer and sends a new OTP.
         */
        post: operations["generateCustomerAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/customer/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List customers
         * @description The company's customers, newest first.
         */
        get: operations["listCustomers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/customer/{customer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a customer
         * @description One customer, with their bank account when there is one.
         */
        get: operations["findCustomer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/transaction/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all transactions
         * @description Payments into the accounts of all your customers, newest first. A page past the last is empty, with the same `meta` as any other.
         */
        get: operations["listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/transaction/{customer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a customer's transactions
         * @description The newest 50 transactions of one customer, without pages, fee, currency and customer. A customer that does not exist has none.
         */
        get: operations["listCustomerTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/transaction/{customer}/{transactionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a transaction
         * @description One transaction of one customer; `null` if the customer has no transaction with this id.
         */
        get: operations["findCustomerTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Your company
         * @description Who you are here: your state, the environment, the fees of your payouts, your limits and what of them is used today. A day begins at
         *     midnight in Lagos. `null` for a limit means that there is none.
         */
        get: operations["findCompany"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description The API keys of your company, with those that are revoked or have expired. Nothing shows the key itself; `ending` has its last four
         *     characters.
         */
        get: operations["listAPIKeys"];
        put?: never;
        /**
         * Issue an API key
         * @description Issues a further API key, with your transaction PIN. Only this answer shows the key. Older keys work until they are revoked or expire. To
         *     replace a key, issue a new one, use it everywhere, and revoke the old one.
         *
         *     A wrong PIN counts like any wrong PIN. At most 20 keys can work, and at most 20 can be issued on a day in Lagos. The access token must
         *     come from a key that still works; otherwise the answer is 403, as for an invalid access token.
         *
         *     A repetition with the same `Idempotency-Key` shows the key for ten minutes, and afterwards without `apiKey`.
         *
         *     If your company requires two people, the answer is 202, and a second person of your company sees the key at the approval.
         */
        post: operations["issueAPIKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Revokes an API key of your company, with your transaction PIN. The key and its refresh token stop working immediately, and
         *     within a second the access tokens that came from the key. The last working key stays.
         *
         *     A wrong PIN counts like any wrong PIN. If your company requires two people, the answer is 202, and the key works until a second person
         *     of your company approves.
         */
        delete: operations["revokeAPIKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/two-people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Require two people for API keys
         * @description With `on`, each act on your API keys waits for a second person of your company, for 24 hours. To switch it off waits likewise (202).
         *     Only a person who has signed in at Kobo's pages can do this, in the role owner. With an access token the answer is 403
         *     `person_needed`. Another owner or developer must exist.
         */
        post: operations["setTwoPeople"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/payout-approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Require two people for payouts
         * @description With `amount`, a payout or bulk payout of at least this amount that a person asks for at Kobo's pages waits for a second person of
         *     your company, for 24 hours. `0.01` means each payout. `null` ends the rule. A weaker rule, which is a larger amount or the end of the
         *     rule, waits likewise (202). Payouts that a program asks for with an access token never wait: the program decides.
         *     Only a person who has signed in at Kobo's pages can do this, in the role owner. With an access token the answer is 403
         *     `person_needed`. Another owner or a person in the role finance must exist.
         */
        post: operations["setPayoutApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List approvals
         * @description What waited for a second person of your company, newest first. An approval has no secret.
         */
        get: operations["listApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check an approval
         * @description One approval of your company, however old. An approval has no secret. `state` says whether it still waits, and `outdated` whether what
         *     it rests on has changed meanwhile, such as a fee. `changes` then has both values.
         */
        get: operations["findApproval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/approvals/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve what waits
         * @description Does what the approval waits for. Only a person who has signed in at Kobo's pages can approve, and never the person who asked: in the
         *     role owner or developer about API keys, and in the role owner or finance about payouts. An approved payout or bulk payout begins with
         *     the amount, the fees and the accounts that the approval shows, or is refused. What a program asked for with an API key needs two of them, since whoever holds the key may be one: after the first,
         *     the answer has `state` `WAITING` and `firstApprovedBy`. The act is checked again, and may be refused now. If it issues an API key, only this answer shows the key.
         */
        post: operations["approveRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/approvals/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject what waits
         * @description Ends an approval. Nothing happens. If the person who asked ends it, its state is `WITHDRAWN`. Only a person who has signed in at Kobo's
         *     pages can do this, in a role that may approve it.
         */
        post: operations["rejectRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/company/pin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set your transaction PIN
         * @description Send `currentPin` to change a PIN that you know, or `pinToken` to set a PIN that you do not know or do not have yet. The operator gives you
         *     a PIN token, which works **once** and for 24 hours; a later token or another change of the PIN replaces it. A wrong `currentPin` counts like
         *     any wrong PIN: five in a row lock the PIN, and a PIN token unlocks it.
         *
         *     A new PIN voids every unused `verify_id`. Send an `Idempotency-Key`, so that a repetition is not a try with a PIN that is no longer yours.
         */
        post: operations["setPIN"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/request-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your requests
         * @description The requests that your company has sent with an access token, newest first, for 30 days unless the operator keeps them for another
         *     time; at most 1,000,000. Requests for tokens are not in it.
         *
         *     The log is a help and no evidence. It appears about a second after a request, a crash loses the last second, and under heavy load
         *     requests may be missing. It has no query. `body` is what a refused or failed request sent, without values that may be secret or name a
         *     person. In `path`, everything that is not an id of Kobo is replaced by the name of the
         *     parameter, such as `{customer}` for an e-mail address.
         *
         *     One page looks at 10,000 requests at most. With a filter a page may be empty and still have a `next`.
         */
        get: operations["listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List settlement accounts
         * @description The company's settlement accounts with their balances, ordered by id. Several bank accounts may credit one settlement account; the
         *     answer shows the first.
         *
         *     With `at`, each `balance` is that of an earlier instant, which is included; a day (`2030-01-02`) means its end in Lagos. Accounts that
         *     were opened later are left out. All other fields are those of now.
         */
        get: operations["listSettlementAccounts"];
        put?: never;
        /**
         * Open a settlement account
         * @description Opens another settlement account with a balance of 0. It has no bank account until you generate a corporate sub-account for it
         *     (`settlementId`). Then it shows the number and the name of that account.
         */
        post: operations["createSettlementAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/accounts/{settlementId}/alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set an alert for a low balance
         * @description Sets the threshold of the alert. A debit (payout, purchase, card funding, correction) that takes the balance below the threshold
         *     writes the event `settlement.low_balance` in the same commit. There is one event for each fall: the balance must rise to the
         *     threshold before the next event. An account that is below a new threshold already gets an event too.
         */
        post: operations["setSettlementAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/accounts/{settlementId}/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the balances of the last days
         * @description The balance of a settlement account at the end of each of the last days in Lagos (UTC+1), oldest first. The last one is the balance
         *     now. Days before the account was opened are left out.
         */
        get: operations["listDayBalances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/virtual-account/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a virtual account
         * @description Opens a bank account for one payment. Show its number to the payer, and wait for the event `virtual_account.success` or
         *     `virtual_account.failed`.
         *
         *     | `amountControl` | Completes it |
         *     |---|---|
         *     | `Fixed` | exactly the amount |
         *     | `UnderPayment` | the amount or less |
         *     | `OverPayment` | the amount or more |
         *
         *     A payment that is late, repeated or of a wrong amount is credited to the settlement account too. The status does not change, and
         *     the event is `virtual_account.late_payment`.
         *
         *     The same `externalReference` with the same request gives the existing collection in its present state. A 503 means that the bank
         *     did not answer: send the same request again.
         */
        post: operations["generateVirtualAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/virtual-account/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List virtual accounts
         * @description The company's virtual accounts, newest first. Each filter is optional. `from` and `to` filter by `createdAt`.
         */
        get: operations["listVirtualAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/virtual-account/{transactionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a virtual account transaction
         * @description The state of a collection: `PENDING` until it is paid (`SUCCESS`) or expires (`FAILED`). The answer does not repeat the
         *     transaction id.
         */
        get: operations["findVirtualAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/banks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List supported banks
         * @description The banks that payouts can go to, by name. The list changes seldom, and you may cache it for an hour.
         */
        get: operations["listBanks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/validate-account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate a bank account
         * @description Asks the bank for the owner of an account (name enquiry). The `id` of the answer is the `verify_id` of **one** payout. Show the
         *     name to the sender before you send the payout. Only the bank knows whether an account exists.
         *
         *     The PIN is locked after five wrong attempts in a row.
         */
        post: operations["validateAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/send-payout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a payout
         * @description Debits the amount and its fee from the settlement account of the verification and sends the amount to the account that was
         *     validated. A `verify_id` serves **one** payout, whatever the outcome. After `Insufficient balance` it is still valid.
         *
         *     | Answer | Means | Do |
         *     |---|---|---|
         *     | 200, `SUCCESS` | the bank has paid | nothing; a payout that the bank returns later becomes `REVERSED` and is refunded |
         *     | 200, `PENDING` | debited; the bank has not confirmed or rejected it | ask for its status; never send it again with a new verification |
         *     | 400 ending `Your balance has been refunded.` | the bank rejected it | validate again, if you wish |
         *     | 400, anything else | nothing was debited | correct the request |
         *     | 409 | the first request with this `Idempotency-Key` is still running | wait a moment and repeat it unchanged |
         *
         *     If the validation is older than 15 minutes, Kobo asks the bank again first. If the name of the account has changed, nothing is
         *     sent. With `dry_run=true` nothing is written and no bank is asked: the answer says what would happen.
         */
        post: operations["sendPayout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/payouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List payouts
         * @description The company's payouts, newest first. Several filters together select the payouts that match all of them.
         */
        get: operations["listPayouts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/transfer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Transfer between own accounts
         * @description Moves money between two settlement accounts of your company, at once and without a fee. Both accounts must be `ACTIVE`. The transfer
         *     is a debit of one account and a credit of the other, with the same `reference` and the `source` `transfer`. It is not a payout, so no
         *     payout limit counts it. A refused transfer moves nothing.
         */
        post: operations["transferFunds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/bulk-payout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List bulk payouts
         * @description The bulk payouts of your company, newest first, without their lines. If `next` is a text, send it as `cursor` to read the next page.
         */
        get: operations["listBulkPayouts"];
        put?: never;
        /**
         * Prepare a bulk payout
         * @description Stores up to 1,000 payouts, which you confirm together. No money moves. Kobo asks the banks for the names on the accounts. When
         *     each line has its verdict, the state is `CHECKED`, and the event `bulk_payout.checked` comes. Then compare the names with yours, and
         *     confirm or cancel.
         *
         *     A line is `BAD` if its account does not exist, if its bank gives no name, or if a payout has used its `externalReference`. A bad
         *     line is never sent. Two lines with the same `externalReference` refuse the whole request. A bulk payout that nobody confirms is
         *     cancelled after 24 hours. The body may have 2 MiB.
         */
        post: operations["openBulkPayout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/bulk-payout/{bulkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check a bulk payout
         * @description A bulk payout and its lines, in the order of the request. If `nextAfter` is a number, send it as `after` to read the next lines.
         *     After the confirmation, each good line shows the `reference` and the `status` of its payout.
         */
        get: operations["findBulkPayout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/bulk-payout/{bulkId}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a bulk payout
         * @description Makes each good line a payout of its own, with its own `reference`, events and outcome. All good lines are debited with their fees
         *     in one step, and they count towards the limits of today. If the balance or a limit does not cover all of them, the confirmation is
         *     refused, and nothing is debited. Each payout is `PENDING` until the bank has paid or rejected it. A payout that fails is refunded
         *     alone.
         *
         *     Kobo sends the payouts in the order of the lines, several at a time. If the name on an account is older than 15 minutes then, Kobo
         *     asks the bank again. If the name has changed, the payout is `FAILED` and refunded. A payout that cannot be sent within an hour, for
         *     example because the bank is away, is `FAILED` and refunded too. When each payout has its outcome, the state is `COMPLETED`, and the
         *     event `bulk_payout.completed` comes.
         *
         *     If a payout has used the `externalReference` of a line since the check, the confirmation is refused, and the line is `BAD`. You may
         *     then confirm the other lines.
         */
        post: operations["confirmBulkPayout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/bulk-payout/{bulkId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a bulk payout
         * @description Cancels a bulk payout that is not confirmed. Nothing was debited, and nothing will be sent. A bulk payout that is cancelled already
         *     stays as it is.
         */
        post: operations["cancelBulkPayout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/payout-status/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check a payout
         * @description One payout with all details.
         */
        get: operations["findPayout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/transaction/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the settlement ledger
         * @description The entries of your settlement accounts, newest first. Within one account the balance before an entry is the balance after the
         *     entry before it.
         */
        get: operations["listLedgerEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/transaction/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a settlement transaction
         * @description The entry of a reference in a settlement account. If a reference has several entries (a refunded payout has two), the answer is
         *     the first: the debit.
         */
        get: operations["findLedgerEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what came in
         * @description Each credit that a bank has reported for your company, newest first: on the accounts of your customers, on your virtual accounts, and on
         *     the bank accounts of your settlement accounts. Several filters together select the credits that match all of them.
         */
        get: operations["listCredits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/credits/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch what came in
         * @description One credit that a bank has reported, by its id.
         */
        get: operations["findCredit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/statement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Statement of a settlement account
         * @description Every entry of a period, oldest first, with the opening and the closing balance. Without `from` the period begins with the
         *     account. Without `to`, or with a `to` in the future, it ends now. A period before the opening of the account is empty. The closing
         *     balance of one period is the opening balance of the next. Statements of any length are streamed. An answer that breaks off is no
         *     valid statement: repeat the request.
         */
        get: operations["findStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settlement/daily-totals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Daily totals of a settlement account
         * @description The credits, the debits, the fees paid and the balances of each day in Lagos, oldest first. A day without entries has zeros. The
         *     totals agree with the statement of the same days. Days after today are left out, and at most 400 days are allowed.
         */
        get: operations["listDailyTotals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/generate-card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a card
         * @description Issues a card to a customer who has completed the OTP. If the customer has no address, the issuer gets the company's.
         *
         *     A `physical` card needs the `number` printed on it. The number goes to the issuer and is stored nowhere. With `amount` the new
         *     card is funded at once, as by `fund-card`. `data.funding` is the result, and the funding's reference is the card's id.
         *
         *     `Card creation is being confirmed.` means that the outcome is not known yet: either the card appears in the list, with an event
         *     `card.generated`, or it was not made. Cards of one customer are made one after the other.
         */
        post: operations["generateCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/generate-card-token/{cardId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a card token
         * @description A token that is valid for about two minutes. With it your customer's browser or phone shows the card's number and security code,
         *     directly from the issuer. The token is never stored or logged, and must not be cached.
         */
        post: operations["generateCardToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List cards
         * @description The company's cards, newest first, in their last known state at the issuer.
         */
        get: operations["listCards"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/get-card/{cardId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch card details
         * @description One card in its present state at the issuer, without its full number, security code and balance.
         */
        get: operations["findCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/send-default-pin/{cardId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the default PIN
         * @description Asks the issuer to deliver the card's default PIN to the cardholder. Takes no body. With an `Idempotency-Key` a repeated request
         *     sends no second PIN, unless the first was cut off before the issuer had answered.
         */
        post: operations["sendDefaultPin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/fund-card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fund a card
         * @description Debits the amount from the company's first active settlement account and puts it on the card.
         *
         *     | Answer | Means | Do |
         *     |---|---|---|
         *     | 200 | the money is on the card | nothing |
         *     | 400 ending `Your balance has been refunded.` | the issuer declined | send a new request, if you wish |
         *     | 400 `Card funding is being confirmed. …` | debited; the issuer has not confirmed or declined it | ask for the card transaction by `data.reference`; do not send it again |
         *     | 400, anything else | nothing was debited | correct the request |
         *     | 409 | the first request with this `Idempotency-Key` is still running | wait a moment and repeat it unchanged |
         *
         *     Send an `Idempotency-Key`: then a repeated request funds the card once, whatever happened to the first. Without one, a second
         *     funding of the same card and amount counts as a repetition while the first is unresolved. It debits nothing, and the answer has
         *     the reference of the first. With `dry_run=true` nothing is debited and no issuer is asked: the answer says what would happen.
         */
        post: operations["fundCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/transaction/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check a card transaction
         * @description The state of a funding. `FAILED` always means that it was refunded.
         */
        get: operations["findCardTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/{cardId}/freeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Freeze a card
         * @description The issuer declines every payment with the card until it is unfrozen. A frozen card has the status `inactive`. To freeze a frozen
         *     card changes nothing. The event is `card.frozen`.
         *
         *     If the issuer's answer is lost, the answer is a 400 `A change of this card is being confirmed. …`. Kobo asks the issuer until it
         *     knows the outcome. Then the event tells it, and so does the card.
         */
        post: operations["freezeCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/{cardId}/unfreeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unfreeze a card
         * @description The card can pay again, and has the status `active`. The event is `card.unfrozen`.
         *
         *     If the issuer's answer is lost, the answer is a 400 `A change of this card is being confirmed. …`. Kobo asks the issuer until it
         *     knows the outcome. Then the event tells it, and so does the card.
         */
        post: operations["unfreezeCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/{cardId}/terminate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Terminate a card
         * @description Ends the card for ever. It has the status `canceled`. The event is `card.terminated`. The issuer gets the reason; Sudo documents
         *     `lost` and `stolen`.
         *
         *     What is left on the card comes back. If the issuer's list of transfers proves it, the company's first active settlement account
         *     is credited within minutes (event `settlement.credit`). Otherwise two operators of the fintech decide, and credit it then.
         *
         *     If the issuer's answer is lost, the answer is a 400 `A change of this card is being confirmed. …`. Kobo asks the issuer until it
         *     knows the outcome. Then the event tells it, and so does the card.
         */
        post: operations["terminateCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/card/{cardId}/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the uses of a card
         * @description What the issuer has reported of the card, newest first: payments, refunds, declined and changed authorizations, and its end.
         *     Fundings are not in this list; ask for a funding by its reference.
         */
        get: operations["listCardTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List services
         * @description The services that you can sell, such as Airtime, Data, Utility and Cable TV. Active services only.
         */
        get: operations["listServices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/service/{serviceId}/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the categories of a service
         * @description The vendors within a service, such as the mobile networks of Data. Active categories only.
         */
        get: operations["listServiceCategories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/category/{serviceCategoryId}/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the products of a category
         * @description The products of a vendor with their prices. Active products only.
         */
        get: operations["listCategoryProducts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/purchase-data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy a data bundle
         * @description Debits the price of the product from a settlement account and delivers the bundle to a phone. There is no `amount`: the product's price is
         *     charged. The balance must be **strictly greater** than the price.
         *
         *     | Answer | Means | Do |
         *     |---|---|---|
         *     | 200, `SUCCESS` | delivered | nothing |
         *     | 200, `PENDING` | debited; the network has not confirmed or rejected it | ask for the transaction; never buy again with a new key |
         *     | 200, `Duplicate request — returning existing transaction` | this `idempotencyKey` was used before | read `data`; nothing was charged |
         *     | 400 ending `Your balance has been refunded.` | the network rejected it | try again, if you wish, with a new `idempotencyKey` |
         *     | 400, anything else | nothing was debited | correct the request |
         *     | 409 | the first request with this key is still running | wait a moment and repeat it unchanged |
         */
        post: operations["purchaseData"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/verify-entity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a smartcard or a meter
         * @description Finds the owner of a smartcard or a meter before you buy TV or power for it. The `meterVerificationId` serves one purchase of your
         *     company in the same category. The commit that debits the purchase uses it up. It is free again if the purchase is rejected for
         *     certain. A detail that the vendor does not give is `null`. Cable TV and Utility categories only.
         */
        post: operations["verifyEntity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/purchase-cable-tv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy a TV package
         * @description Debits the price of the package from a settlement account and renews a smartcard. There is no `amount`: the package's price is
         *     charged, so a product with `isFixedAmount: false` ("Top Up") cannot be bought. `cardNumber` is sent unchanged and is not compared
         *     with the verified number. The balance must be **strictly greater** than the price. The answers are those of a data purchase,
         *     except that a used `idempotencyKey` is answered without a `message`.
         */
        post: operations["purchaseCableTV"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/purchase-airtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy airtime
         * @description Debits the amount from a settlement account and tops up a phone. The balance must be **strictly greater** than the amount. The
         *     answers are those of a data purchase.
         */
        post: operations["purchaseAirtime"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/purchase-utility": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy power
         * @description Debits the amount from a settlement account and pays it to the meter that was verified. `token` is the code to enter into a
         *     prepaid meter. It is `null` for a postpaid meter, and while the outcome is not known; the transaction shows it later. Some power
         *     companies give further codes: show your customer every one that is there, `kct1` and `kct2` before `token`. The amount
         *     must lie within what the verification allows. The balance must be **strictly greater** than the amount. The answers are those of a
         *     data purchase.
         */
        post: operations["purchaseUtility"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List purchases
         * @description The company's purchases, newest first.
         */
        get: operations["listVtuTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vtu/transaction/{transactionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a purchase
         * @description One purchase with all details, by its `transactionId` or by your `idempotencyKey`.
         */
        get: operations["findVtuTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crypto/networks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List available networks
         * @description The blockchains that accept deposits, with their native asset and tokens. The contract address identifies a token: another token
         *     with the name USDT is ignored.
         */
        get: operations["listCryptoNetworks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crypto/generate-address/{networkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a deposit address
         * @description Gives your company one more address on a network. It is derived from your company's extended public key with a new index. Only the
         *     holder of the private key can spend deposits there. Kobo cannot.
         *
         *     The answer comes when Kobo watches the address for deposits. A 503 means that Kobo does not watch it yet. The address is in the
         *     list as soon as Kobo watches it. Repeated with the same `Idempotency-Key`, the request gives that address; without a key it makes
         *     another one.
         */
        post: operations["generateCryptoAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crypto/pregenerated-address/{networkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deposit addresses
         * @description All addresses that were generated for your company on a network, oldest first. Despite its singular name, `data.address` is a list.
         */
        get: operations["listCryptoAddresses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crypto/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the most recent transaction
         * @description **Only the most recent transaction**, as a list of one: always page 1 with a limit of 1, whatever parameters are sent.
         *     `GET /api/v1/crypto/history` lists all of them.
         */
        get: operations["findLastCryptoTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/crypto/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deposits and withdrawals
         * @description The transactions to and from your addresses, newest first. A new deposit is `pending`. It is `completed` when enough blocks
         *     confirm it, and `failed` when a reorganisation has removed it from the chain. You sign withdrawals yourself: Kobo signs nothing.
         */
        get: operations["listCryptoTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/outcomes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List unresolved operations
         * @description Operations whose outcome is not known yet, newest first. Kobo asks the provider again after 5 s, 30 s, 2 min, 10 min, 30 min, 2 h,
         *     then hourly up to 72 h; after that a person decides. No operation fails because of its age. After an operation `FAILED` because
         *     the provider had no record of it, Kobo asks again after 1 h and 24 h; `GET /api/v1/outcomes/{reference}` shows when.
         */
        get: operations["listOutcomes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/outcomes/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch the outcome of an operation
         * @description State, attempts, last answer and next try of one operation, resolved or not.
         */
        get: operations["findOutcome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/timeline/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what happened to a payment
         * @description The steps of a payout, purchase, card funding, credit, collection, adjustment, transfer, customer's credit or movement on a
         *     chain, oldest first: your request, the money in your ledger, the answers of the provider, the events, and the deliveries of
         *     these to your webhooks. Long numbers in the provider's words are masked. The log of requests is kept for some weeks, so an
         *     older payment may have no step `request`.
         */
        get: operations["findTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the event feed
         * @description The events of your company, oldest first, numbered 1, 2, 3 … without a gap. Store the `sequence` of the last event that you have
         *     processed, and send it as `after`. With `wait` the call stays open until there is a new event, at most that many seconds.
         *
         *     The operator may archive old events. Then an `after` before the events that are kept is a 410 with `firstSequence`, the first of
         *     these. The newest event always stays.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch an event
         * @description One event, by its id.
         */
        get: operations["findEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Your endpoints, the newest first.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Add a webhook
         * @description Adds an address for your future events. Kobo posts each event as `GET /api/v1/events/{id}` shows it, in the order of `sequence`,
         *     signed by the *Standard Webhooks* specification (standardwebhooks.com). Verify the signature with `secret`, **which only this
         *     answer shows**.
         *
         *     Answer with 2xx within 10 seconds. Any other answer, redirects included, is a failure, and Kobo tries again after 5 s, 30 s, 2
         *     min, 10 min, 30 min, 1 h and then every hour up to 72 h. A message may arrive twice, with the same header `webhook-id`.
         *
         *     The address must be public and https; the sandbox also takes plain http on this machine.
         *     A company has at most 20 webhooks, and creates at most 100 on a day in Lagos.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a webhook
         * @description The endpoint, with its undelivered events in `backlog`.
         */
        get: operations["findWebhook"];
        put?: never;
        /**
         * Change a webhook
         * @description Changes the given fields. `active: false` pauses the deliveries, and the endpoint keeps its place in the feed. With `active: true`
         *     they go on from there.
         */
        post: operations["updateWebhook"];
        /**
         * Delete a webhook
         * @description Ends all deliveries to the endpoint.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the secret
         * @description Gives the endpoint a new secret, which only this answer shows. For 24 hours every message carries two signatures, one for each
         *     secret, so you can change the secret without a gap. Takes no body.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a webhook
         * @description Posts a signed message of the kind `webhook.test` at once, and answers with the result. The message is not in the feed (`sequence`
         *     0) and is not tried again. Takes no body.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a part of the feed again
         * @description Sends the events of a range to the endpoint once more, in order and with the same ids, beside new events. `from` and `to` are
         *     sequence numbers, or instants (or days in Lagos); both belong to the range.
         */
        post: operations["replayWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description The deliveries to the endpoint and their results, newest first.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check a delivery
         * @description A delivery with each of its attempts in `history`, oldest first. Kobo deletes the attempts together with their delivery. The answers of
         *     failed attempts are redacted as the bodies in the request log are: JSON shows names, and the values only of harmless members. Other text
         *     shows no e-mail address, no number of seven digits and nothing that looks like a key.
         */
        get: operations["findWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Sends the event of the delivery once more, as a new delivery with the same `webhook-id`. Takes no body. An event that the operator
         *     has archived is not sent again.
         */
        post: operations["resendWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/idempotency/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look up an Idempotency-Key
         * @description The result of the request with this `Idempotency-Key`. The request is not sent again.
         */
        get: operations["findIdempotencyKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/integrity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check your ledger
         * @description Adds up the entries of your company again and compares: entries with balances, and money on its way with the operations that are
         *     open. All balances together are zero: `settlement/…` is your money, `clearing/…` is money on its way, and `provider/…` is the
         *     other side.
         *
         *     A check of a large ledger reads only the rows after those that earlier checks verified. Once a day Kobo reads all rows again
         *     (`fullWalkAt`). If that finds a difference, `intact` stays false until a later full walk finds none. If there are too many new
         *     rows for one request, the answer is 503: repeat the request, it continues where the last one stopped.
         */
        get: operations["checkIntegrity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List signed tree heads
         * @description Your transfers, events and audit lines are the leaves of a Merkle tree (RFC 6962), in the order in which they were written. A
         *     checkpoint is a signed note (golang.org/x/mod/sumdb/note) with the origin, the size and the root of the tree, and the time. Kobo
         *     signs one each hour if there are new rows, and one on demand for a receipt. Each is also the event `checkpoint.signed`.
         *
         *     Keep checkpoints outside Kobo: they show later that nothing before them was changed or removed.
         */
        get: operations["listCheckpoints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/checkpoints/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch the public key of checkpoints
         * @description The Ed25519 keys that sign checkpoints. Store `key` when you begin: it is what `kobo receipt verify --key` takes. It stays valid
         *     when Kobo gets a new key, because all keys sign each checkpoint.
         */
        get: operations["findCheckpointKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/checkpoints/consistency": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prove that a tree continues an earlier one
         * @description A consistency proof (RFC 6962, 2.1.2) between two of your checkpoints: the rows of the earlier tree are the first rows of the
         *     later tree, unchanged.
         */
        get: operations["proveConsistency"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/receipts/{reference}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch the receipt of a transfer or an event
         * @description An inclusion proof (RFC 6962, 2.1.1) that a row is in your tree, with the checkpoint of the tree. The reference is that of an
         *     operation, a credit or a correction, or the id of an event. `kobo receipt verify` checks a receipt without Kobo's server.
         *
         *     An operation has several transfers, such as the debit and the settlement. Without `step` the receipt is about the first one. If
         *     the row is newer than the last checkpoint, Kobo makes a checkpoint: at most one a second for all companies, and 500 a day for
         *     yours. After a 429, repeat the request. The event `checkpoint.signed` gets its receipt after the next checkpoint.
         */
        get: operations["findReceipt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive?
         * @description Does not use the database.
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the program ready?
         * @description Checks the database, its schema, the workers, and the last write of the database. Each program writes once a second, and after 15
         *     s without a write the answer is 503. While API access is closed the answer stays 200 with `"door": "closed"`; with
         *     `?for=companies` it is 503. A program that is about to stop answers 503 and `leaving`. It still serves for a while
         *     (`serve.drain`), and closes the connection after each answer.
         */
        get: operations["readiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Requests, webhooks, and the process itself.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description The whole contract, from which the server takes its rules.
         */
        get: operations["document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document for people
         * @description The contract as a web page.
         */
        get: operations["reference"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "kyb.changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The verification of your business changed its state */
        post: operations["toldKybChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.api_key_issued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Your company has a new API key */
        post: operations["toldApiKeyIssued"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.api_key_revoked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An API key of your company does not work any more */
        post: operations["toldApiKeyRevoked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.key_token_issued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has issued a key token for your company */
        post: operations["toldKeyTokenIssued"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.pin_token_issued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has issued a PIN token for your company */
        post: operations["toldPinTokenIssued"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.pin_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Your transaction PIN was set or changed */
        post: operations["toldPinChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.pin_locked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Your transaction PIN is locked after wrong tries */
        post: operations["toldPinLocked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.pin_unlocked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has unlocked your transaction PIN */
        post: operations["toldPinUnlocked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.live_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has switched your company on or off */
        post: operations["toldLiveChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.limits_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has set a limit of your company */
        post: operations["toldLimitsChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.fees_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has set your payout fees */
        post: operations["toldFeesChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.bank_account_attached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has attached a bank account to your settlement account */
        post: operations["toldSettlementBankAccountAttached"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.status_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Your settlement account was switched on or off, or closed to debits */
        post: operations["toldSettlementStatusChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.adjusted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Two operators have adjusted the balance of your settlement account */
        post: operations["toldSettlementAdjusted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.account_created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has opened a settlement account for you */
        post: operations["toldSettlementAccountCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.alert_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has set the low-balance alert of your settlement account */
        post: operations["toldSettlementAlertChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.address_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has set the address of your cardholders without an address */
        post: operations["toldCardAddressChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "crypto.key_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An operator has set the key of your next deposit addresses */
        post: operations["toldCryptoKeyChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "vtu.pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A purchase was debited */
        post: operations["toldVtuPending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "vtu.success": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A purchase was delivered */
        post: operations["toldVtuSuccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "vtu.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A purchase was refused and refunded */
        post: operations["toldVtuFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "vtu.reversed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A purchase was returned by the provider and refunded */
        post: operations["toldVtuReversed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.credit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A payment was credited to a settlement account */
        post: operations["toldSettlementCredit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.low_balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The balance of a settlement account fell below your threshold */
        post: operations["toldSettlementLowBalance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "checkpoint.signed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Kobo signed the head of your tree */
        post: operations["toldCheckpointSigned"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "company.renewal_due": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use your API key and your PIN within a week, or they are revoked
         * @description Your operator replaces the master key with which API keys and PINs are hashed. A key gets its new hash when you use it. The named API keys,
         *     and the PIN if `isPinUnused` is true, have not been used since. Exchange each API key once for an access token, and validate one account with the PIN.
         *     What is left at `revokedAt` is revoked: the API keys stop working, and the PIN is locked.
         */
        post: operations["toldCompanyRenewalDue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.endpoint_failing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A delivery failed for 72 hours and is not tried again */
        post: operations["toldWebhookEndpointFailing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "virtual_account.success": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A virtual account was paid */
        post: operations["toldVirtualAccountSuccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "virtual_account.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A virtual account expired without a payment */
        post: operations["toldVirtualAccountFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "virtual_account.late_payment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A late, repeated or wrong payment was credited to the settlement account */
        post: operations["toldVirtualAccountLatePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "customer.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A customer was created */
        post: operations["toldCustomerCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "customer.account_generated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A customer has an account */
        post: operations["toldCustomerAccountGenerated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "customer.erased": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A customer was erased on request
         * @description You no longer see the customer, and the e-mail address is free again. Earlier events about the customer lose the name, contact data and
         *     address. Erase what you have stored yourself.
         */
        post: operations["toldCustomerErased"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "transaction.credit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A payment was credited to a customer's account */
        post: operations["toldTransactionCredit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.generated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A card was issued */
        post: operations["toldCardGenerated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.funding_pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A card funding was debited */
        post: operations["toldCardFundingPending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.funded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The money is on the card */
        post: operations["toldCardFunded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.funding_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A card funding was declined and refunded */
        post: operations["toldCardFundingFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.frozen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A card was frozen */
        post: operations["toldCardFrozen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.unfrozen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A card was unfrozen */
        post: operations["toldCardUnfrozen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.terminated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A card was terminated */
        post: operations["toldCardTerminated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payout.pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A payout was debited */
        post: operations["toldPayoutPending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payout.success": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A payout arrived */
        post: operations["toldPayoutSuccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payout.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A payout was refused and refunded */
        post: operations["toldPayoutFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payout.reversed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A payout was returned by the bank and refunded */
        post: operations["toldPayoutReversed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "bulk_payout.checked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The names of a bulk payout are there */
        post: operations["toldBulkPayoutChecked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "bulk_payout.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Each payout of a bulk payout has its outcome */
        post: operations["toldBulkPayoutCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "crypto.deposit_pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A deposit was seen */
        post: operations["toldCryptoDepositPending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "crypto.deposit_completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A deposit is confirmed */
        post: operations["toldCryptoDepositCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "crypto.deposit_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A reorganisation removed a deposit from the chain */
        post: operations["toldCryptoDepositFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "crypto.withdrawal_completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A withdrawal is confirmed */
        post: operations["toldCryptoWithdrawalCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "crypto.withdrawal_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A reorganisation removed a withdrawal from the chain */
        post: operations["toldCryptoWithdrawalFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "corporate.kyc_verified": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A signatory is verified */
        post: operations["toldCorporateKycVerified"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "corporate.account_created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A corporate sub-account was created */
        post: operations["toldCorporateAccountCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "corporate.account_updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A later request changed an existing corporate sub-account */
        post: operations["toldCorporateAccountUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Readiness: {
            /**
             * @description `ready` when every check below is `ok`. Closed API access does not count, unless you ask for companies.
             * @enum {string}
             */
            status: "ready" | "not ready";
            /** @description `ok`, or the problem. */
            database: string;
            /** @description `ok`, or the problem. */
            migrations: string;
            /** @description `ok`, or the problem. */
            workers: string;
            /**
             * @description As `/healthz` states it.
             * @enum {string}
             */
            environment: "dev" | "staging" | "live";
            /** @description `ok`, or for how long the database took no write (`none for 17 s`). */
            writes: string;
            /** @description `closed`, only while API access is closed. */
            door?: string;
            /** @description `off`, only if one operator alone can do what can lead to money leaving. */
            four_eyes?: string;
            /** @description `leaving`, only while the program ends. */
            program?: string;
        };
        /** @constant */
        SuccessStatus: "success";
        /** @constant */
        Succeeded: true;
        Message: {
            /** @description The error, in words. */
            message: string;
        };
        GateRefusal: {
            /**
             * @description The reason of the refusal, for machines.
             * @enum {string}
             */
            code: "KYB_REQUIRED" | "ACCOUNT_DEACTIVATED";
            /**
             * @description The state of your company's verification (KYB).
             * @enum {string}
             */
            kybStatus: "NOT_STARTED" | "IN_PROGRESS" | "SUBMITTED" | "CHANGES_REQUESTED" | "REJECTED" | "APPROVED";
            /** @description The reason in words. */
            message: string;
        };
        Problem: {
            /**
             * @description Always `error`.
             * @constant
             */
            status: "error";
            /** @description The error, in words. */
            message: string;
        };
        ArchivedProblem: {
            /**
             * @description Always `error`.
             * @constant
             */
            status: "error";
            /** @description The error, in words. */
            message: string;
            /**
             * Format: int64
             * @description The sequence of the first event that is kept.
             */
            firstSequence: number;
        };
        ValidationProblem: {
            /**
             * @description Always `error`.
             * @constant
             */
            status: "error";
            /**
             * @description Always `Validation error`.
             * @constant
             */
            message: "Validation error";
            /** @description One line for each rule that the request breaks. */
            details: string[];
        };
        VtuProblem: {
            /**
             * @description Always `false`.
             * @constant
             */
            success: false;
            /** @description The error, in words. */
            message: string;
            /** @description The purchase, if it was rejected and refunded. */
            data?: {
                /** @description The id of the purchase. */
                transactionId: string;
            };
        };
        Tokens: {
            /** @description A JWT. Valid 15 minutes. */
            accessToken: string;
            /** @description A JWT. Valid for the refresh operation only. */
            refreshToken: string;
        };
        AccessToken: {
            /** @description A JWT. Valid 15 minutes. */
            accessToken: string;
        };
        ClaimRequest: {
            /** @description The key token that the operator gave you. */
            keyToken: string;
        };
        ClaimedKey: {
            /** @description Your API key. It is shown only here. */
            apiKey: string;
            /**
             * Format: int64
             * @description How many other API keys of your company work now. You must know each of them.
             */
            otherKeys: number;
        };
        OwnPinRequest: {
            /** @description The PIN token that the operator gave you; not with `currentPin`. */
            pinToken?: string;
            /** @description The PIN that you have; not with `pinToken`. */
            currentPin?: string;
            /** @description The new PIN; exactly 4 digits. */
            pin: string;
        };
        APIKeyRequest: {
            /** @description Your transaction PIN. */
            pin: string;
            /** @description Your own name for the key. */
            name?: string;
            /** @description The end of the key, as an instant (`2031-01-02T03:04:05Z`), or as a day in Lagos whose end it is. Without it the key does not expire. */
            expiresAt?: string;
        };
        TwoPeopleRequest: {
            /** @description Whether two people are required. */
            on: boolean;
        };
        Approval: {
            /** @description The id of the approval. */
            id: string;
            /**
             * @description What waits.
             * @enum {string}
             */
            kind: "ISSUE_API_KEY" | "REVOKE_API_KEY" | "TWO_PEOPLE_OFF" | "SEND_PAYOUT" | "CONFIRM_BULK" | "PAYOUT_RULE";
            /**
             * @description Only `WAITING` can be decided.
             * @enum {string}
             */
            state: "WAITING" | "APPROVED" | "REJECTED" | "WITHDRAWN" | "EXPIRED";
            /** @description The name of the new API key; `null` for none. */
            name: string | null;
            /**
             * Format: date-time
             * @description The end of the new API key; `null` for never.
             */
            keyExpiresAt: string | null;
            /** @description The API key to revoke; `null` for another kind. */
            apiKeyId: string | null;
            /** @description The payout that waits; `null` for another kind. */
            payout: components["schemas"]["WaitingPayout"] | null;
            /** @description The bulk payout that waits; `null` for another kind. */
            bulkPayout: components["schemas"]["WaitingBulkPayout"] | null;
            /** @description The weaker rule for payouts that waits; `null` for another kind. */
            payoutApproval: components["schemas"]["PayoutApprovalRule"] | null;
            /**
             * @description `person:NAME`, or `key:ID` for a program with an API key.
             * @example person:ada
             */
            askedBy: string;
            /** @description The first of the two people who approve what a program asked for; `null` for nobody. */
            firstApprovedBy: string | null;
            /** @description When it was asked for. */
            createdAt: components["schemas"]["Instant"];
            /** @description When it stops waiting, 24 hours later. */
            expiresAt: components["schemas"]["Instant"];
            /** @description Who decided; `null` while it waits. */
            decidedBy: string | null;
            /**
             * Format: date-time
             * @description When it was decided; `null` while it waits.
             */
            decidedAt: string | null;
            /** @description Why nobody can approve it any more although it waits: what it rests on has changed, so ask again. Only the answer about one approval has this field. */
            outdated?: string | null;
            /** @description The values that have changed, if `outdated` is about values. Only the answer about one approval has this field. */
            changes?: components["schemas"]["ApprovalChange"][];
        };
        ApprovalChange: {
            /**
             * @description What has changed. `lines`, `amount` and `fee` are those of the whole bulk payout.
             * @enum {string}
             */
            field: "accountNumber" | "accountName" | "bankCode" | "fromSettlementId" | "lines" | "amount" | "fee";
            /**
             * @description The value when the approval was asked for. `amount` and `fee` are naira with two decimals.
             * @example 25.00
             */
            then: string;
            /**
             * @description The value now.
             * @example 30.00
             */
            now: string;
        };
        WaitingPayout: {
            /**
             * Format: int64
             * @description The settlement account that pays; `null` in an approval of an earlier version.
             */
            fromSettlementId: number | null;
            /**
             * @description The amount of the rule by which it waits, in naira.
             * @example 500000
             */
            requiredFrom: Kobo;
            /**
             * @description Naira.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description Naira. Kobo refuses the approval if the fee has changed; `null` in an approval of an earlier version.
             * @example 25
             */
            fee: Kobo | null;
            /**
             * @description The name that the bank has for the account.
             * @example ADA OBI
             */
            accountName: string;
            /**
             * @description The account.
             * @example 0123456789
             */
            accountNumber: string;
            /** @description The bank; `null` if its name is not known. */
            bankName: string | null;
            /** @description `null` for none. */
            narration: string | null;
            /** @description `null` for none. */
            externalReference: string | null;
            /** @description The `reference` that the payout has when it is approved. */
            reference: string;
        };
        WaitingBulkPayout: {
            /** @description The `bulkId`. */
            bulkId: string;
            /**
             * Format: int64
             * @description The settlement account that pays; `null` in an approval of an earlier version.
             */
            fromSettlementId: number | null;
            /**
             * @description The amount of the rule by which it waits, in naira.
             * @example 500000
             */
            requiredFrom: Kobo;
            /**
             * Format: int64
             * @description The number of good lines.
             */
            lines: number;
            /**
             * @description The sum of the good lines, without fees; naira.
             * @example 180000
             */
            amount: Kobo;
            /**
             * @description The sum of the fees; naira. Kobo refuses the approval if the fees have changed; `null` in an approval of an earlier version.
             * @example 2500
             */
            fee: Kobo | null;
        };
        PayoutApprovalRule: {
            /**
             * @description From this amount on, in naira, payouts of people wait; `null` for none.
             * @example 500000
             */
            amount: Kobo | null;
        };
        PayoutApprovalRequest: {
            /**
             * Format: naira
             * @description Naira; above 0 and with at most two decimals. `0.01` means each payout. `null` ends the rule.
             */
            amount: Kobo | null;
        };
        DecidedApproval: {
            /** @description The approval. */
            approval: components["schemas"]["Approval"];
            /** @description The new API key, if the approval issued one. Kobo never shows it again. */
            apiKey?: components["schemas"]["IssuedAPIKey"];
        };
        ApprovalPage: {
            /** @description The approvals of this page, newest first. */
            data: components["schemas"]["Approval"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        APIKeyRevocation: {
            /** @description Your transaction PIN. */
            pin: string;
        };
        APIKey: {
            /** @description The key's id, as the events about it have it. */
            id: string;
            /**
             * @description Your own name for the key; `null` for none.
             * @example Shop server
             */
            name: string | null;
            /**
             * @description The last four characters of the key; `null` for a key of an early release.
             * @example x7Qa
             */
            ending: string | null;
            /**
             * @description Only an `ACTIVE` key gives tokens.
             * @enum {string}
             */
            status: "ACTIVE" | "EXPIRED" | "REVOKED";
            /** @description True for the key from which the access token of this request comes. */
            current: boolean;
            /** @description When it was issued. */
            createdAt: components["schemas"]["Instant"];
            /**
             * Format: date-time
             * @description The end of the key; `null` for never.
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description The last request with a token of the key; `null` if none is known. After a crash of Kobo it may be a minute too old.
             */
            lastUsedAt: string | null;
            /**
             * @description The network address from which that request came.
             * @example 192.0.2.7
             */
            lastUsedFrom: string | null;
        };
        IssuedAPIKey: {
            /** @description The key's id, as the events about it have it. */
            id: string;
            /**
             * @description Your own name for the key; `null` for none.
             * @example Shop server
             */
            name: string | null;
            /**
             * @description The last four characters of the key; `null` for a key of an early release.
             * @example x7Qa
             */
            ending: string | null;
            /**
             * @description Only an `ACTIVE` key gives tokens.
             * @enum {string}
             */
            status: "ACTIVE" | "EXPIRED" | "REVOKED";
            /** @description True for the key from which the access token of this request comes. */
            current: boolean;
            /** @description When it was issued. */
            createdAt: components["schemas"]["Instant"];
            /**
             * Format: date-time
             * @description The end of the key; `null` for never.
             */
            expiresAt: string | null;
            /**
             * @description The key. Kobo never shows it again.
             * @example kobo_live_C2FVsBQIhrscChlQIMVb5sSYspob7oDx7Qa
             */
            apiKey?: string;
        };
        APIKeyPage: {
            /** @description The keys of this page, newest first. */
            data: components["schemas"]["APIKey"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        LoggedRequest: {
            /** @description The id of this row. */
            id: string;
            /** @description When the request arrived. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description The method.
             * @example POST
             */
            method: string;
            /**
             * @description The path, with the ids of Kobo and without other values.
             * @example /api/v1/customer/{customer}
             */
            path: string;
            /**
             * @description The status of the answer.
             * @example 400
             */
            status: number;
            /**
             * @description The `Kobo-Reason` of the answer; `null` if it had none.
             * @example pin_invalid
             */
            reason: string | null;
            /**
             * @description How long it took, in milliseconds.
             * @example 12
             */
            durationMs: number;
            /** @description The `X-Request-Id` of the answer. */
            requestId: string;
            /** @description The `Idempotency-Key` of the request, which is unique in your company over all kinds of requests; `null` if it had none. */
            idempotencyKey: string | null;
            /** @description The id of the API key from which the access token came, or `person:NAME` for a person at Kobo's pages; `null` if it is unknown. */
            apiKeyId: string | null;
            /**
             * @description The last four characters of that API key.
             * @example x7Qa
             */
            apiKeyEnding: string | null;
            /**
             * @description The network address of the request.
             * @example 192.0.2.7
             */
            sourceAddress: string;
            /**
             * @description The redacted body of a refused or failed request, at most 2 KiB; otherwise `null`.
             * @example {"amount":1500,"pin":"<4 characters>"}
             */
            body: string | null;
        };
        RequestPage: {
            /** @description The requests of this page, newest first. */
            data: components["schemas"]["LoggedRequest"][];
            /** @description The `cursor` of the following page; `null` after the last one. */
            next: string | null;
        };
        RefreshRequest: {
            /** @description The most recent refresh token from token generation. */
            refreshToken: string;
        };
        Currency: {
            /**
             * @description Its three letters in ISO 4217.
             * @example NGN
             */
            name: string;
        };
        Company: {
            /** @description The reference in the path of `generate-token`. */
            reference: string;
            /**
             * @description The name of your company.
             * @example Example Limited
             */
            name: string;
            /**
             * @description The state of your business verification.
             * @enum {string}
             */
            kybStatus: "NOT_STARTED" | "IN_PROGRESS" | "SUBMITTED" | "CHANGES_REQUESTED" | "REJECTED" | "APPROVED";
            /** @description True if the company is switched on. */
            live: boolean;
            /**
             * @description Where requests go: `dev` simulates the providers, `staging` uses their test systems.
             * @enum {string}
             */
            environment: "dev" | "staging" | "live";
            /** @description True if acts on your API keys wait for a second person of your company. */
            twoPeople: boolean;
            /** @description From this amount on, in naira, payouts that people ask for wait for a second person; `null` for none. */
            payoutApproval: Kobo | null;
            /** @description The fees of your payouts, by amount. Empty if there are none. */
            fees: components["schemas"]["FeeBand"][];
            /** @description Your limits and what of them is used today. */
            limits: components["schemas"]["CompanyLimits"];
        };
        FeeBand: {
            /** @description The smallest amount of the band; naira. */
            from: Kobo;
            /** @description The fixed part of the fee; naira. */
            flat: Kobo;
            /** @description The percentage of the amount; at most two decimals. */
            percent: number;
            /** @description The largest fee of the band; naira. 0 is no cap. */
            cap: Kobo;
        };
        CompanyLimits: {
            /**
             * @description Today in Lagos, the day of what is used.
             * @example 2030-01-02
             */
            day: string;
            /** @description The limits of payouts: first that of the company, then that of each settlement account. */
            payouts: components["schemas"]["PayoutLimit"][];
            /** @description How many objects you may create in a day. */
            quotas: components["schemas"]["ObjectQuota"][];
        };
        PayoutLimit: {
            /**
             * Format: int64
             * @description `null` for the whole company.
             */
            settlementId: number | null;
            /** @description The largest sum of a day; naira. `null` for no limit. */
            amount: Kobo | null;
            /**
             * Format: int64
             * @description The largest number of payouts of a day; `null` for no limit.
             */
            payouts: number | null;
            /** @description The sum of today's payouts without fees and refunded payouts; naira. */
            usedAmount: Kobo;
            /**
             * Format: int64
             * @description The number of today's payouts without refunded payouts.
             */
            usedPayouts: number;
        };
        ObjectQuota: {
            /**
             * @description What is counted.
             * @enum {string}
             */
            kind: "otp" | "settlement-account" | "crypto-address" | "virtual-account";
            /**
             * Format: int64
             * @description The largest number of a day; `null` for no limit.
             */
            most: number | null;
            /**
             * Format: int64
             * @description How many were created today.
             */
            used: number;
        };
        DailyTotals: {
            /**
             * Format: int64
             * @description The settlement account.
             */
            settlementId: number;
            /**
             * @description The first day, in Lagos.
             * @example 2030-01-01
             */
            from: string;
            /**
             * @description The last day, in Lagos.
             * @example 2030-01-31
             */
            to: string;
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description The balance before the first day; naira. */
            openingBalance: Kobo;
            /** @description The balance after the last day; naira. */
            closingBalance: Kobo;
            /** @description Every day of the period, oldest first. */
            days: components["schemas"]["DayTotals"][];
        };
        DayTotals: {
            /**
             * @description The day, in Lagos.
             * @example 2030-01-01
             */
            day: string;
            /** @description Naira. */
            openingBalance: Kobo;
            /** @description Naira. */
            totalCredits: Kobo;
            /** @description Naira; fees are in it. */
            totalDebits: Kobo;
            /** @description The fees of the day less the fees returned on that day; naira. */
            feesPaid: Kobo;
            /** @description Naira: opening balance and credits, less debits. */
            closingBalance: Kobo;
        };
        ListedVirtualAccount: {
            /** @description Fetch it by this id. */
            virtual_trx_id: string;
            /**
             * Format: int64
             * @description The settlement account for the payment.
             */
            settlementId: number;
            /**
             * @description The account number for the payment; 10 digits.
             * @example 7000000001
             */
            accountNumber: string;
            /**
             * @description The name on the account.
             * @example KOBO CHECKOUT
             */
            accountName: string;
            /**
             * @description The bank of the account.
             * @example Safe Haven MFB
             */
            bankName: string;
            /**
             * @description The expected amount; naira.
             * @example 2500
             */
            amount: Kobo;
            /** @description Your own name for the payment. */
            externalReference: string;
            /** @description The end of the validity. */
            expiryDate: components["schemas"]["Instant"];
            /**
             * @description `PENDING` until it is paid (`SUCCESS`) or expires (`FAILED`).
             * @enum {string}
             */
            status: "PENDING" | "SUCCESS" | "FAILED";
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description When the account was generated. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description Your own data, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        VirtualAccountPage: {
            /** @description The virtual accounts of this page, newest first. */
            data: components["schemas"]["ListedVirtualAccount"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        SettlementAccount: {
            /**
             * Format: int64
             * @description Use it as `settlementId`.
             * @example 1
             */
            id: number;
            /**
             * @description Your own name for the account.
             * @example Main
             */
            name: string;
            /**
             * @description The account number for payments.
             * @example 0123456789
             */
            accountNumber: string | null;
            /**
             * @description The name on the bank account that feeds it; `null` for none.
             * @example Example Limited
             */
            accountName: string | null;
            /**
             * @description The bank of that account; `null` for none.
             * @example Safe Haven MFB
             */
            bankName: string | null;
            /**
             * @description Naira.
             * @example 1000000
             */
            balance: Kobo;
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description True for the account of payments and operations that name no settlement account. */
            isDefault: boolean;
            /**
             * @description An `INACTIVE` one was switched off by an operator, and neither pays nor takes money.
             * @enum {string}
             */
            status: "ACTIVE" | "INACTIVE";
            /** @description When it was opened. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description The threshold of the low-balance alert, in naira; `null` for no alert.
             * @example 50000
             */
            lowBalance: Kobo | null;
        };
        SettlementAccountRequest: {
            /**
             * Format: name
             * @description Your own name for the account.
             */
            name: string;
        };
        SettlementAlertRequest: {
            /**
             * Format: naira
             * @description Naira; above 0 and with at most two decimals. `null` ends the alert.
             */
            lowBalance: Kobo | null;
        };
        VirtualAccountRequest: {
            /**
             * Format: int64
             * @description Whole naira, greater than 0; only digits.
             */
            amount: Kobo;
            /** @description Your own name for the payment; unique in your company. */
            externalReference: string;
            /**
             * Format: int64
             * @description The settlement account of the money. Without it your default settlement account.
             */
            settlementId?: number;
            /**
             * Format: int64
             * @description The validity of the account, in seconds.
             * @default 900
             */
            validFor?: number;
            /**
             * Format: name
             * @description A proposal; the bank may choose another name.
             */
            accountName?: string;
            /**
             * @description The payments that complete the collection.
             * @default Fixed
             * @enum {string}
             */
            amountControl?: "Fixed" | "UnderPayment" | "OverPayment";
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        VirtualAccount: {
            /** @description Fetch it by this id. */
            virtual_trx_id: string;
            /**
             * @description The account number for the payment; 10 digits.
             * @example 7000000001
             */
            accountNumber: string;
            /**
             * @description The name on the account.
             * @example KOBO CHECKOUT
             */
            accountName: string;
            /**
             * @description The bank of the account.
             * @example Safe Haven MFB
             */
            bankName: string;
            /**
             * @description Naira.
             * @example 2500
             */
            amount: Kobo;
            /** @description Your own name for the payment. */
            externalReference: string;
            /** @description The end of the validity. */
            expiryDate: components["schemas"]["Instant"];
            /**
             * @description `PENDING` until it is paid (`SUCCESS`) or expires (`FAILED`).
             * @enum {string}
             */
            status: "PENDING" | "SUCCESS" | "FAILED";
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description When the account was generated. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description Your own data, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        VirtualAccountTransaction: {
            /**
             * @description The expected amount; naira.
             * @example 2500
             */
            amount: Kobo;
            /** @description The end of the validity. */
            expiryDate: components["schemas"]["Instant"];
            /**
             * @description The bank of the account.
             * @example Safe Haven MFB
             */
            bankName: string;
            /**
             * @description The account number for the payment; 10 digits.
             * @example 7000000001
             */
            accountNumber: string;
            /** @description Your own name for the payment. */
            externalReference: string;
            /**
             * @description `PENDING` until it is paid (`SUCCESS`) or expires (`FAILED`).
             * @enum {string}
             */
            status: "PENDING" | "SUCCESS" | "FAILED";
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description When the account was generated. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description Your own data, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        SettlementRefusal: {
            /** @description Begins with a space. */
            error: string;
            /** @description The payout, if it was rejected and refunded. */
            data?: {
                /** @description The reference of the payout. */
                reference: string;
            };
        };
        Bank: {
            /**
             * @description The bank's name.
             * @example Access Bank
             */
            name: string;
            /**
             * @description Use it as `bank_code`.
             * @example 000014
             */
            code: string;
        };
        AccountValidation: {
            /** @description A `code` of the supported banks. */
            bank_code: string;
            /** @description A 10-digit NUBAN. */
            account_number: string;
            /** @description Your transaction PIN. */
            pin: string;
            /**
             * Format: int64
             * @description The settlement account to pay from. A JSON number.
             */
            fromSettlementId: number;
        };
        ValidatedAccount: {
            /** @description Use it as `verify_id`; it becomes the payout's `reference`. */
            id: string;
            /**
             * @description The owner's name at the bank.
             * @example ADA OBI
             */
            account_name: string;
            /** @description The account that was validated. */
            account_number: string;
        };
        PayoutOrder: {
            /** @description The `id` of a validated account. */
            verify_id: string;
            /**
             * Format: naira
             * @description Naira; above 0 and with at most two decimals.
             */
            amount: Kobo;
            /** @description For the statements of both sides. */
            narration?: string;
            /** @description Your own reference; unique in your company among payouts. */
            externalReference?: string;
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        TransferOrder: {
            /**
             * Format: int64
             * @description The settlement account that pays.
             */
            fromSettlementId: number;
            /**
             * Format: int64
             * @description The settlement account that receives.
             */
            toSettlementId: number;
            /**
             * Format: naira
             * @description Naira; above 0 and with at most two decimals.
             */
            amount: Kobo;
            /** @description For the statements of both accounts. */
            narration?: string;
        };
        OwnTransfer: {
            /** @description The reference of both ledger entries. */
            reference: string;
            /**
             * Format: int64
             * @description The settlement account that paid.
             * @example 1
             */
            fromSettlementId: number;
            /**
             * Format: int64
             * @description The settlement account that received.
             * @example 2
             */
            toSettlementId: number;
            /**
             * @description Naira.
             * @example 250000
             */
            amount: Kobo;
            /**
             * @description The text on the statements of both accounts.
             * @example Salaries of March
             */
            narration: string;
            /** @description When the money was moved. */
            createdAt: components["schemas"]["Instant"];
        };
        SentPayout: {
            /** @description The `verify_id`. */
            reference: string;
            /**
             * @description Naira.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description Naira; debited beside the amount.
             * @example 25
             */
            fee: Kobo;
            /**
             * @description `SUCCESS` when the bank has paid; `PENDING` until the bank confirms or rejects it.
             * @enum {string}
             */
            status: "SUCCESS" | "PENDING";
            /** @description The receiver's name at the bank. */
            account_name: string;
            /** @description The receiver's account; 10 digits. */
            account_number: string;
            /** @description The code of the receiver's bank. */
            bank_code: string;
            /** @description The text on the statements of both sides; `null` for no text. */
            narration: string | null;
            /** @description When the payout was sent. */
            createdAt: components["schemas"]["Instant"];
        };
        Payout: {
            /** @description The `verify_id`. */
            reference: string;
            /**
             * @description Naira.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description Naira; debited beside the amount.
             * @example 25
             */
            fee: Kobo;
            /**
             * @description `FAILED` and `REVERSED` always mean refunded, with the fee.
             * @enum {string}
             */
            status: "PENDING" | "SUCCESS" | "FAILED" | "REVERSED";
            /** @description The receiver's name at the bank. */
            account_name: string;
            /** @description The receiver's account; 10 digits. */
            account_number: string;
            /** @description The code of the receiver's bank. */
            bank_code: string;
            /** @description The text on the statements of both sides; `null` for no text. */
            narration: string | null;
            /** @description When the payout was sent. */
            createdAt: components["schemas"]["Instant"];
            /** @description The name of the receiver's bank; `null` when it is not known. */
            bank_name: string | null;
            /** @description The id of the transfer between the banks; the receiver's bank finds the money by it. */
            sessionId: string | null;
            /** @description The message of the bank. */
            failureReason: string | null;
            /** @description True when the amount and the fee are back in the settlement account. */
            refunded: boolean;
            /**
             * Format: int64
             * @description The settlement account that pays.
             */
            settlementId: number;
            /**
             * Format: date-time
             * @description Null while it is PENDING.
             */
            completedAt: string | null;
            /** @description Your own reference, if you gave one. */
            externalReference?: string;
            /**
             * @description Your own data, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        BulkPayoutOrder: {
            /**
             * Format: int64
             * @description The settlement account to pay from. A JSON number.
             */
            fromSettlementId: number;
            /** @description Your transaction PIN. */
            pin: string;
            /** @description The payouts. */
            lines: components["schemas"]["BulkPayoutLineOrder"][];
        };
        BulkPayoutLineOrder: {
            /** @description A `code` of the supported banks. */
            bank_code: string;
            /** @description A 10-digit NUBAN. */
            account_number: string;
            /**
             * Format: naira
             * @description Naira; above 0 and with at most two decimals.
             */
            amount: Kobo;
            /** @description For the statements of both sides. */
            narration?: string;
            /** @description Your own reference; unique in your company among payouts. */
            externalReference?: string;
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description The number of the line in your own file, if the lines come from a file. Kobo keeps it, and names the line by it.
             * @example 2
             */
            fileLine?: number;
        };
        BulkPayoutConfirmation: {
            /** @description Your transaction PIN. */
            pin: string;
        };
        BulkPayout: {
            /** @description The id of the bulk payout. */
            bulkId: string;
            /**
             * @description `CHECKED` waits for you; `CONFIRMED` is debited; `COMPLETED` when each payout has its outcome.
             * @enum {string}
             */
            state: "CHECKING" | "CHECKED" | "CONFIRMED" | "COMPLETED" | "CANCELLED";
            /**
             * Format: int64
             * @description The settlement account that pays.
             * @example 1
             */
            fromSettlementId: number;
            /** @description The number of lines. */
            lineCount: number;
            /** @description The number of lines without a verdict. */
            checking: number;
            /** @description The number of lines that can be sent or were sent. */
            good: number;
            /** @description The number of lines that are never sent. */
            bad: number;
            /**
             * @description The sum of the good lines; naira.
             * @example 180000
             */
            amount: Kobo;
            /**
             * @description The sum of the fees of the good lines; naira. Before the confirmation, by the fees of now.
             * @example 50
             */
            fee: Kobo;
            /** @description The number of payouts without an outcome. */
            pending: number;
            /** @description The number of payouts that are `SUCCESS`. */
            succeeded: number;
            /** @description The number of payouts that are `FAILED` or `REVERSED`, and refunded. */
            failed: number;
            /** @description When the bulk payout was stored. */
            createdAt: components["schemas"]["Instant"];
            /** @description When it is cancelled if it is not confirmed. */
            expiresAt: components["schemas"]["Instant"];
            /**
             * Format: date-time
             * @description When each line had its verdict; `null` before.
             */
            checkedAt: string | null;
            /**
             * Format: date-time
             * @description When you confirmed it; `null` before.
             */
            confirmedAt: string | null;
            /**
             * Format: date-time
             * @description When it was completed or cancelled; `null` before.
             */
            endedAt: string | null;
        };
        BulkPayoutPage: {
            /** @description The id of the bulk payout. */
            bulkId: string;
            /**
             * @description `CHECKED` waits for you; `CONFIRMED` is debited; `COMPLETED` when each payout has its outcome.
             * @enum {string}
             */
            state: "CHECKING" | "CHECKED" | "CONFIRMED" | "COMPLETED" | "CANCELLED";
            /**
             * Format: int64
             * @description The settlement account that pays.
             * @example 1
             */
            fromSettlementId: number;
            /** @description The number of lines. */
            lineCount: number;
            /** @description The number of lines without a verdict. */
            checking: number;
            /** @description The number of lines that can be sent or were sent. */
            good: number;
            /** @description The number of lines that are never sent. */
            bad: number;
            /**
             * @description The sum of the good lines; naira.
             * @example 180000
             */
            amount: Kobo;
            /**
             * @description The sum of the fees of the good lines; naira. Before the confirmation, by the fees of now.
             * @example 50
             */
            fee: Kobo;
            /** @description The number of payouts without an outcome. */
            pending: number;
            /** @description The number of payouts that are `SUCCESS`. */
            succeeded: number;
            /** @description The number of payouts that are `FAILED` or `REVERSED`, and refunded. */
            failed: number;
            /** @description When the bulk payout was stored. */
            createdAt: components["schemas"]["Instant"];
            /** @description When it is cancelled if it is not confirmed. */
            expiresAt: components["schemas"]["Instant"];
            /**
             * Format: date-time
             * @description When each line had its verdict; `null` before.
             */
            checkedAt: string | null;
            /**
             * Format: date-time
             * @description When you confirmed it; `null` before.
             */
            confirmedAt: string | null;
            /**
             * Format: date-time
             * @description When it was completed or cancelled; `null` before.
             */
            endedAt: string | null;
            /** @description The lines of this page, in the order of the request. */
            lines: components["schemas"]["BulkPayoutLine"][];
            /** @description The `after` of the next page; `null` if no lines follow. */
            nextAfter: number | null;
        };
        BulkPayoutList: {
            /** @description The bulk payouts of this page, newest first. */
            data: components["schemas"]["BulkPayout"][];
            /** @description The `cursor` of the next page; `null` if no bulk payouts follow. */
            next: string | null;
        };
        BulkPayoutLine: {
            /**
             * Format: int64
             * @description The number of the line; the first is 1.
             */
            line: number;
            /** @description The code of the receiver's bank. */
            bank_code: string;
            /** @description The receiver's account; 10 digits. */
            account_number: string;
            /**
             * @description Naira.
             * @example 90000
             */
            amount: Kobo;
            /** @description The text on the statements of both sides; `null` for no text. */
            narration: string | null;
            /**
             * @description `GOOD` if the line can be sent; `BAD` if it is never sent.
             * @enum {string}
             */
            verdict: "CHECKING" | "GOOD" | "BAD";
            /** @description The name of the receiver's bank; `null` when it is not known. */
            bank_name: string | null;
            /** @description The receiver's name at the bank; `null` until the bank has given it. */
            account_name: string | null;
            /**
             * @description Naira; debited beside the amount.
             * @example 25
             */
            fee: Kobo;
            /** @description Why the line is bad or why its payout failed; otherwise `null`. */
            reason: string | null;
            /** @description The `reference` of the payout; `null` before the confirmation. */
            reference: string | null;
            /**
             * @description The status of the payout; `null` before the confirmation.
             * @enum {string|null}
             */
            status: "PENDING" | "SUCCESS" | "FAILED" | "REVERSED" | null;
            /** @description A warning: the reference of your payout of the last 7 days to the same account with the same amount. One whose outcome is in doubt (`doubt` of the outcome) comes first, also if it is `FAILED`; then a `PENDING` one, then one with `SUCCESS`; of each the newest. Until you confirm the bulk payout, each answer looks again. The line can be sent nevertheless. */
            doubleOf: string | null;
            /**
             * Format: int64
             * @description A warning: the first line of this bulk payout with the same account and amount.
             */
            doubleOfLine: number | null;
            /** @description Your own reference, if you gave one. */
            externalReference?: string;
            /**
             * @description Your own data, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description The number of the line in your own file, if you gave one.
             * @example 2
             */
            fileLine?: number;
        };
        PayoutPage: {
            /** @description The payouts of this page, newest first. */
            data: components["schemas"]["Payout"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        PayoutPreview: {
            /**
             * @description Always `true`.
             * @constant
             */
            dryRun: true;
            /** @description True if the request would succeed, as far as known without the bank. */
            wouldSucceed: boolean;
            /** @description The reason of a refusal; `null` if the request would succeed. */
            refusal: string | null;
            /** @description Naira. */
            amount: Kobo;
            /** @description Naira. */
            fee: Kobo;
            /** @description The amount that would be debited; naira. */
            total: Kobo;
            /** @description The settlement account now; naira. */
            balance: Kobo;
            /** @description The balance afterwards, in naira; unchanged if the request would be refused. */
            balanceAfter: Kobo;
        };
        CardRequest: {
            /** @description The customer's id or e-mail address. */
            customerId: string;
            /**
             * @description `virtual`, or `physical` for a card that exists and whose number you send.
             * @enum {string}
             */
            type: "virtual" | "physical";
            /**
             * @description The card scheme.
             * @default Verve
             * @enum {string}
             */
            brand?: "Verve" | "Visa" | "MasterCard" | "AfriGo";
            /**
             * @description The currency of the card.
             * @default NGN
             * @enum {string}
             */
            currency?: "NGN";
            /** @description The number printed on a physical card. It is never stored. */
            number?: string;
            /**
             * Format: naira
             * @description Naira to put on the card at once.
             */
            amount?: Kobo;
            /** @description True if the issuer shall send the PIN by SMS. */
            sendPINSMS?: boolean;
        };
        Card: {
            /** @description The card's id at Kobo. */
            id: string;
            /**
             * @description `virtual` or `physical`.
             * @example virtual
             */
            type: string;
            /**
             * @description The card scheme.
             * @example Verve
             */
            brand: string;
            /**
             * @description The currency of the card, in ISO 4217.
             * @example NGN
             */
            currency: string;
            /**
             * @description The card number, with its middle hidden.
             * @example 506321*********0001
             */
            maskedPan: string;
            /**
             * @description The month in which it expires; two digits.
             * @example 08
             */
            expiryMonth: string;
            /**
             * @description The year in which it expires; four digits.
             * @example 2033
             */
            expiryYear: string;
            /**
             * @description The state at the issuer: `active`, `inactive`, `canceled`.
             * @example active
             */
            status: string;
            /** @description The customer who holds it. */
            customerId: string;
            /** @description When the card was made. */
            createdAt: components["schemas"]["Instant"];
            /**
             * Format: date-time
             * @description Null while nothing has changed.
             */
            updatedAt: string | null;
            /** @description The issuer's own id of the card. */
            providerCardId: string;
        };
        GeneratedCard: {
            /** @description The same as `id`. */
            cardId: string;
            /** @description The card's id at Kobo. */
            id: string;
            /**
             * @description `virtual` or `physical`.
             * @example virtual
             */
            type: string;
            /**
             * @description The card scheme.
             * @example Verve
             */
            brand: string;
            /**
             * @description The currency of the card, in ISO 4217.
             * @example NGN
             */
            currency: string;
            /**
             * @description The card number, with its middle hidden.
             * @example 506321*********0001
             */
            maskedPan: string;
            /**
             * @description The month in which it expires; two digits.
             * @example 08
             */
            expiryMonth: string;
            /**
             * @description The year in which it expires; four digits.
             * @example 2033
             */
            expiryYear: string;
            /**
             * @description The state at the issuer: `active`, `inactive`, `canceled`.
             * @example active
             */
            status: string;
            /** @description The customer who holds it. */
            customerId: string;
            /** @description When the card was made. */
            createdAt: components["schemas"]["Instant"];
            /**
             * Format: date-time
             * @description Null while nothing has changed.
             */
            updatedAt: string | null;
            /** @description The issuer's own id of the card. */
            providerCardId: string;
            /** @description The funding of a request with `amount`; absent without `amount`. */
            funding?: components["schemas"]["CardFunding"];
        };
        CardPage: {
            /** @description The cards of this page, newest first. */
            data: components["schemas"]["Card"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        CardStatusReason: {
            /** @description Why. Only the company's own note; it is not stored. */
            reason?: string;
        };
        CardTermination: {
            /**
             * @description Why the card ends, for the issuer: `lost`, `stolen`, or what the issuer accepts.
             * @example lost
             */
            reason: string;
        };
        CardActivity: {
            /** @description The issuer's id of the event. */
            id: string;
            /** @description The card's id at Kobo. */
            cardId: string;
            /**
             * @description The issuer's name of the event.
             * @example transaction.created
             */
            type: string;
            /**
             * @description What the event moved on the card, in units of its currency. Negative: money left the card. For `card.terminated`: what was left on it.
             * @example -2500.5
             */
            amount: Kobo;
            /**
             * @description The currency, in ISO 4217; empty if the issuer did not say.
             * @example NGN
             */
            currency: string;
            /**
             * @description The merchant's name and place; empty if there is none.
             * @example Corner Shop, Lagos, NG
             */
            merchant: string;
            /** @description When it happened. */
            createdAt: components["schemas"]["Instant"];
        };
        CardActivityPage: {
            /** @description The uses on this page, newest first. */
            data: components["schemas"]["CardActivity"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        CardToken: {
            /** @description The token for the issuer's page or library, which shows the card's details. */
            token: string;
            /**
             * @description Seconds.
             * @example 120
             */
            expiresIn: number;
            /** @description The card that it is for. */
            cardId: string;
        };
        CardFundingOrder: {
            /** @description The `cardId` from card generation. */
            cardId: string;
            /**
             * Format: naira
             * @description Naira; above 0 and with at most two decimals.
             */
            amount: Kobo;
            /** @description Your own reference; unique in your company among card fundings. */
            externalReference?: string;
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        CardReference: {
            /** @description Check the card transaction by it. */
            reference: string;
        };
        CardProblem: {
            /**
             * @description Always `error`.
             * @constant
             */
            status: "error";
            /** @description The error; each kind of error has its own text. */
            message: string;
            /** @description One line for each rule that the body breaks. */
            details?: string[];
            /** @description The funding, if it is being confirmed, or was declined and refunded. */
            data?: components["schemas"]["CardReference"];
        };
        CardFunding: {
            /** @description The id of the funding. */
            reference: string;
            /** @description The card that is funded. */
            cardId: string;
            /**
             * @description Naira.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description `PENDING` until the outcome is known. `FAILED` always means refunded.
             * @enum {string}
             */
            status: "PENDING" | "SUCCESS" | "FAILED";
            /** @description True when the amount is back in the settlement account. */
            refunded: boolean;
            /**
             * Format: int64
             * @description The settlement account that pays.
             */
            settlementId: number;
            /** @description When it was asked for. */
            createdAt: components["schemas"]["Instant"];
            /** @description When its state last changed. */
            updatedAt: components["schemas"]["Instant"];
            /** @description Your own reference, if you gave one. */
            externalReference?: string;
            /**
             * @description Your own data, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        LedgerEntry: {
            /**
             * @description Naira. Without the fee for a payout or purchase; with the returned fee for a refund.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description `credit` for incoming money, `debit` for outgoing money.
             * @enum {string}
             */
            type: "credit" | "debit";
            /** @description False for a debit whose outcome is open or that was refunded; true otherwise. */
            status: boolean;
            /**
             * @description Naira.
             * @example 15025.5
             */
            previous_balance: Kobo;
            /**
             * @description Naira. A debit changes the balance by amount and fee, a credit by its amount.
             * @example 10000.5
             */
            current_balance: Kobo;
            /**
             * @description Naira. For a debit charged on top of the amount. For a refund negative: the part of the amount that is the returned fee.
             * @example 25
             */
            fee: Kobo;
            /**
             * @description The reason of the entry: `payout`, `vtu`, `credit`, `adjustment`, …
             * @example payout
             */
            source: string;
            /** @description The purpose, in words. */
            narration: string;
            /** @description When it was booked. */
            createdAt: components["schemas"]["Instant"];
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description The id of the customer whose account the money came into. */
            customer: string | null;
            /** @description Your own reference of the operation or virtual account, if you gave one. */
            externalReference?: string;
            /**
             * @description Your own data of the operation or virtual account, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The name of the payer of a credit, if the bank gave it.
             * @example BOLA SAMPLE
             */
            senderName?: string;
            /**
             * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
             * @example 000013
             */
            senderBank?: string;
            /**
             * @description The account number of the payer, if the bank gave it.
             * @example 0123456789
             */
            senderAccount?: string;
            /** @description The transfer's id between the banks, of a credit that the bank reported. */
            sessionId?: string;
        };
        LedgerRow: {
            /**
             * @description Naira. Without the fee for a payout or purchase; with the returned fee for a refund.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description `credit` for incoming money, `debit` for outgoing money.
             * @enum {string}
             */
            type: "credit" | "debit";
            /** @description False for a debit whose outcome is open or that was refunded; true otherwise. */
            status: boolean;
            /**
             * @description Naira.
             * @example 15025.5
             */
            previous_balance: Kobo;
            /**
             * @description Naira. A debit changes the balance by amount and fee, a credit by its amount.
             * @example 10000.5
             */
            current_balance: Kobo;
            /**
             * @description Naira. For a debit charged on top of the amount. For a refund negative: the part of the amount that is the returned fee.
             * @example 25
             */
            fee: Kobo;
            /**
             * @description The reason of the entry: `payout`, `vtu`, `credit`, `adjustment`, …
             * @example payout
             */
            source: string;
            /** @description The purpose, in words. */
            narration: string;
            /** @description When it was booked. */
            createdAt: components["schemas"]["Instant"];
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description The id of the customer whose account the money came into. */
            customer: string | null;
            /** @description The id of the entry. An operation has one for each of its steps. */
            id: string;
            /** @description The operation of the entry: the `verify_id` of a payout, or the `transactionId` of a purchase. */
            reference: string;
            /**
             * Format: int64
             * @description The settlement account that it moved.
             */
            settlementId: number;
            /** @description Your own reference of the operation or virtual account, if you gave one. */
            externalReference?: string;
            /**
             * @description Your own data of the operation or virtual account, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The name of the payer of a credit, if the bank gave it.
             * @example BOLA SAMPLE
             */
            senderName?: string;
            /**
             * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
             * @example 000013
             */
            senderBank?: string;
            /**
             * @description The account number of the payer, if the bank gave it.
             * @example 0123456789
             */
            senderAccount?: string;
            /** @description The transfer's id between the banks, of a credit that the bank reported. */
            sessionId?: string;
        };
        InboundCredit: {
            /** @description The credit's id. Its ledger entry has it as `reference`. */
            id: string;
            /**
             * @description Naira.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description The kind of account to which it was paid: the account of a customer, a virtual account, or a bank account of a settlement account.
             * @enum {string}
             */
            receiver: "settlement" | "customer" | "virtual_account";
            /**
             * Format: int64
             * @description The settlement account that received it.
             */
            settlementId: number;
            /**
             * @description The account number to which it was paid.
             * @example 0123456789
             */
            accountNumber: string;
            /** @description The customer who received it, if the receiver is a `customer`. */
            customer?: components["schemas"]["TransactionCustomer"];
            /**
             * @description The name of the payer of a credit, if the bank gave it.
             * @example BOLA SAMPLE
             */
            senderName?: string;
            /**
             * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
             * @example 000013
             */
            senderBank?: string;
            /**
             * @description The account number of the payer, if the bank gave it.
             * @example 0123456789
             */
            senderAccount?: string;
            /** @description The narration of the sender. */
            narration: string;
            /** @description The transfer's id between the banks. */
            sessionId: string;
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description When it was credited here. */
            createdAt: components["schemas"]["Instant"];
        };
        InboundCreditPage: {
            /** @description The credits of this page, newest first. */
            data: components["schemas"]["InboundCredit"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        LedgerPage: {
            /** @description The entries of this page, newest first. */
            data: components["schemas"]["LedgerRow"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        Statement: {
            /**
             * Format: int64
             * @description The settlement account.
             */
            settlementId: number;
            /** @description The first instant of the period. */
            from: components["schemas"]["Instant"];
            /** @description The last instant of the period. */
            to: components["schemas"]["Instant"];
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description Naira. */
            openingBalance: Kobo;
            /** @description Naira. */
            totalCredits: Kobo;
            /** @description Naira; fees are in it. */
            totalDebits: Kobo;
            /** @description Naira: opening balance and credits, less debits. */
            closingBalance: Kobo;
            /**
             * Format: int64
             * @description How many entries there are.
             */
            totalItems: number;
            /** @description Every entry of the period, oldest first. */
            data: components["schemas"]["LedgerRow"][];
        };
        /**
         * Format: date-time
         * @description UTC, ISO 8601 with milliseconds.
         * @example 2030-01-02T03:04:05.678Z
         */
        Instant: string;
        FieldProblem: {
            /** @description The path of the field: the names of the objects around it, and its own name. */
            path: string[];
            /** @description The rule that it breaks. */
            message: string;
        };
        /** @description The error; `errors` lists broken rules, and `error` is the bank's reason not to open the account. */
        CorporateProblem: {
            /**
             * @description Always `error`.
             * @constant
             */
            status: "error";
            /** @description The error, in words. */
            message: string;
            /** @description The broken rules, field by field. */
            errors?: components["schemas"]["FieldProblem"][];
            /** @description Why the bank did not open the account. */
            error?: string;
        };
        KycInitiation: {
            /** @description Exactly 11 digits, as a text or a number. No answer ever shows it. */
            bvn: string | number;
        };
        KycSession: {
            /** @description The session: use it to resend and to validate. */
            session_id: string;
            /** @description The same as `session_id`. */
            kyc_id: string;
        };
        OtpRetry: {
            /** @description From the initiation; a text. */
            session_id?: unknown;
        };
        RetriedSession: {
            /** @description The session whose OTP was sent again. */
            session_id: string;
        };
        KycValidation: {
            /** @description From the initiation. Required unless you send `kyc_id` instead. */
            session_id?: string;
            /** @description Replaces an absent `session_id`. */
            kyc_id?: string;
            /** @description The code on the phone; a text. Kobo does not check its form. */
            otp?: unknown;
        };
        KycRecord: {
            /** @description A new id. It opens the account. */
            kyc_id: string;
        };
        CorporateAccountRequest: {
            /**
             * Format: name
             * @description Your company's phone number, for the bank.
             */
            phoneNumber: string;
            /**
             * Format: email
             * @description Your company's e-mail address, for the bank.
             */
            emailAddress: string;
            /**
             * Format: name
             * @description The company's registration number.
             */
            rn_number: string;
            /** @description From the validation. */
            kyc_id: string;
            /**
             * Format: int64
             * @description The settlement account to feed.
             */
            settlementId?: number;
        };
        CorporateAccount: {
            /** @description The sub-account's id (spelled as shown). */
            coporate_reference: string;
            /**
             * @description The account number for payments; 10 digits.
             * @example 8000000011
             */
            accountNumber: string;
            /** @description The name on the account. */
            accountName: string;
            /** @description Always 0: payments are credited to the settlement account. */
            balance: Kobo;
            /** @description When it was opened. */
            createdAt: components["schemas"]["Instant"];
            /** @description Your company's registration number. */
            rn_number: string;
        };
        Address: {
            /**
             * Format: name
             * @description House and street.
             */
            line1: string;
            /** @description A second line, such as the floor. */
            line2?: string;
            /**
             * Format: name
             * @description The town or city.
             */
            city: string;
            /**
             * Format: name
             * @description The state.
             */
            state: string;
            /** @description The country. */
            country?: string;
            /** @description The postal code. */
            postalCode?: string;
        };
        CustomerRequest: {
            /**
             * Format: name
             * @description The first name.
             */
            firstName: string;
            /**
             * Format: name
             * @description The family name.
             */
            lastName: string;
            /**
             * Format: name
             * @description The middle name, if there is one.
             */
            middleName?: string;
            /**
             * Format: email
             * @description Unique among your customers, in upper and lower case.
             */
            email: string;
            /** @description Exactly 11 digits. */
            phoneNumber: string;
            /** @description Exactly 11 digits, as a text or a number. No answer ever shows it. */
            bvn: string | number;
            /**
             * Format: date
             * @description YYYY-MM-DD, in the past.
             */
            dateOfBirth?: string;
            /** @description The address of the customer. A card needs an address: this one, or that of your company or of the deployment. */
            address?: components["schemas"]["Address"];
        };
        NewCustomer: {
            /** @description The customer's id. */
            id: string;
            /** @description The first name. */
            firstName: string;
            /** @description The family name. */
            lastName: string;
            /** @description The middle name; `null` for none. */
            middleName: string | null;
            /** @description The e-mail address. It also finds the customer. */
            email: string;
            /** @description The phone number; 11 digits. */
            phoneNumber: string;
            /**
             * @description `PENDING_OTP` until an account is generated.
             * @enum {string}
             */
            status: "PENDING_OTP" | "ACTIVE";
            /** @description When the customer was created. */
            createdAt: components["schemas"]["Instant"];
        };
        CustomerOtpRetry: {
            /** @description The customer's id or e-mail address. */
            customerId: string;
        };
        ResentCustomer: {
            /** @description The customer's id. */
            customerId: string;
        };
        CustomerAccountRequest: {
            /** @description The customer's id or e-mail address. */
            customerId: string;
            /** @description The code on the customer's phone. */
            otp: string;
            /**
             * Format: int64
             * @description The settlement account of credits, instead of the default one. A JSON number.
             */
            settlementId?: number;
        };
        CustomerBankAccount: {
            /**
             * @description The account number of the customer; 10 digits.
             * @example 8000000012
             */
            accountNumber: string;
            /** @description The name on the account. */
            accountName: string;
            /**
             * @description The bank of the account.
             * @example Safe Haven MFB
             */
            bankName: string;
            /** @description The bank's code. */
            bankCode: string;
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /**
             * Format: int64
             * @description The settlement account of credits; null for the default one.
             */
            settlementId: number | null;
            /** @description When the account was opened. */
            createdAt: components["schemas"]["Instant"];
        };
        Customer: {
            /** @description The customer's id. */
            id: string;
            /** @description The first name. */
            firstName: string;
            /** @description The family name. */
            lastName: string;
            /** @description The middle name; `null` for none. */
            middleName: string | null;
            /** @description The e-mail address. It also finds the customer. */
            email: string;
            /** @description The phone number; 11 digits. */
            phoneNumber: string;
            /**
             * @description `ACTIVE` once there is an account.
             * @enum {string}
             */
            status: "PENDING_OTP" | "ACTIVE";
            /** @description When the customer was created. */
            createdAt: components["schemas"]["Instant"];
            /** @description YYYY-MM-DD; `null` when it was not given. */
            dateOfBirth: string | null;
            /** @description The address of the customer; `null` when it was not given. */
            address: components["schemas"]["Address"] | null;
            /**
             * @description `VERIFIED` after the OTP was validated.
             * @enum {string}
             */
            kycStatus: "PENDING" | "VERIFIED";
            /**
             * @description Whether the first and the last name occur in the name that the bank has for the BVN: both, one or none. `null` until there is an account, and if the bank gave no name.
             * @enum {string|null}
             */
            nameMatch: "MATCH" | "PARTIAL" | "MISMATCH" | null;
            /** @description The customer's own account; `null` until it is generated. */
            bankAccount: components["schemas"]["CustomerBankAccount"] | null;
            /** @description When the customer last changed. */
            updatedAt: components["schemas"]["Instant"];
        };
        CustomerPage: {
            /** @description The customers of this page, newest first. */
            data: components["schemas"]["Customer"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        CustomerTransaction: {
            /** @description The transaction's id. */
            id: string;
            /**
             * @description Naira.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description `CREDIT` for an incoming transfer.
             * @example CREDIT
             */
            type: string;
            /**
             * @description `SUCCESS` for an incoming transfer.
             * @example SUCCESS
             */
            status: string;
            /** @description The narration of the sender. */
            narration: string;
            /** @description The transfer's id between the banks. */
            sessionId: string;
            /** @description When it was credited here. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description The name of the payer of a credit, if the bank gave it.
             * @example BOLA SAMPLE
             */
            senderName?: string;
            /**
             * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
             * @example 000013
             */
            senderBank?: string;
            /**
             * @description The account number of the payer, if the bank gave it.
             * @example 0123456789
             */
            senderAccount?: string;
        };
        TransactionCustomer: {
            /** @description The customer's id. */
            id: string;
            /** @description The first name. */
            firstName: string;
            /** @description The family name. */
            lastName: string;
        };
        Transaction: {
            /** @description The transaction's id. */
            id: string;
            /**
             * @description Naira.
             * @example 5000
             */
            amount: Kobo;
            /**
             * @description `CREDIT` for an incoming transfer.
             * @example CREDIT
             */
            type: string;
            /**
             * @description `SUCCESS` for an incoming transfer.
             * @example SUCCESS
             */
            status: string;
            /** @description Always `null`: nothing is charged for a credit. */
            fee: string | null;
            /** @description The narration of the sender. */
            narration: string;
            /** @description The transfer's id between the banks. */
            sessionId: string;
            /** @description When it was credited here. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description The name of the payer of a credit, if the bank gave it.
             * @example BOLA SAMPLE
             */
            senderName?: string;
            /**
             * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
             * @example 000013
             */
            senderBank?: string;
            /**
             * @description The account number of the payer, if the bank gave it.
             * @example 0123456789
             */
            senderAccount?: string;
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description The customer who received the payment. */
            customer: components["schemas"]["TransactionCustomer"];
        };
        TransactionPage: {
            /** @description The transactions of this page, newest first. */
            data: components["schemas"]["Transaction"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        Service: {
            /** @description Use it to list the categories. */
            serviceId: string;
            /**
             * @description The name of the service.
             * @example Data
             */
            serviceName: string;
        };
        Category: {
            /** @description Use it to list the products, to verify and to buy. */
            serviceCategoryId: string;
            /**
             * @description The network, or the company that supplies.
             * @example MTN
             */
            serviceCategoryName: string;
            /** @description The service that it belongs to. */
            serviceId: string;
        };
        Product: {
            /** @description Use it as `productId`. */
            categoryProductId: string;
            /**
             * @description The product's name; its validity when it has none.
             * @example 1 GB monthly
             */
            categoryProductName: string;
            /**
             * @description The price in naira.
             * @example 500.00
             */
            amount: Kobo;
            /** @description False when the buyer chooses the amount. */
            isFixedAmount: boolean;
            /**
             * @description The validity, in words; `""` when the vendor gives none.
             * @example 30 days
             */
            validity: string;
        };
        DataPurchase: {
            /** @description Your own name for this purchase. A repeated request with it never charges again. It identifies one purchase of your company, over all kinds: choose a new one for each purchase. */
            idempotencyKey: string;
            /** @description An active category of the Data service; the network. */
            serviceCategoryId: string;
            /** @description A `categoryProductId` of that category. */
            productId: string;
            /** @description The phone that gets the data; exactly 11 digits. */
            phoneNumber: string;
            /**
             * Format: int64
             * @description The settlement account to debit. A JSON number.
             */
            settlementId: number;
            /** @description Your own reference; unique in your company among purchases. */
            externalReference?: string;
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        CableTVPurchase: {
            /** @description Your own name for this purchase. A repeated request with it never charges again. It identifies one purchase of your company, over all kinds: choose a new one for each purchase. */
            idempotencyKey: string;
            /** @description An unused verification for a Cable TV category. */
            meterVerificationId: string;
            /** @description A package (`categoryProductId`) of the same category. */
            productId: string;
            /** @description The smartcard (IUC) number. Send the one that was verified. */
            cardNumber: string;
            /**
             * Format: int64
             * @description The settlement account to debit. A JSON number.
             */
            settlementId: number;
            /** @description Your own reference; unique in your company among purchases. */
            externalReference?: string;
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        AirtimePurchase: {
            /** @description Your own name for this purchase. A repeated request with it never charges again. It identifies one purchase of your company, over all kinds: choose a new one for each purchase. */
            idempotencyKey: string;
            /** @description An active category of the Airtime service; the network. */
            serviceCategoryId: string;
            /** @description The phone that gets the airtime; exactly 11 digits. */
            phoneNumber: string;
            /**
             * Format: naira
             * @description Naira, greater than 0, at most two decimals, no exponent. A JSON number.
             * @example 200.5
             */
            amount: Kobo;
            /**
             * Format: int64
             * @description The settlement account to debit. A JSON number.
             */
            settlementId: number;
            /** @description Your own reference; unique in your company among purchases. */
            externalReference?: string;
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        UtilityPurchase: {
            /** @description Your own name for this purchase. A repeated request with it never charges again. It identifies one purchase of your company, over all kinds: choose a new one for each purchase. */
            idempotencyKey: string;
            /** @description An unused verification for a Utility category. The power goes to that meter. */
            meterVerificationId: string;
            /**
             * Format: naira
             * @description Naira, greater than 0, at most two decimals, no exponent. A JSON number.
             * @example 2000
             */
            amount: Kobo;
            /**
             * Format: int64
             * @description The settlement account to debit. A JSON number.
             */
            settlementId: number;
            /** @description Your own reference; unique in your company among purchases. */
            externalReference?: string;
            /**
             * Format: metadata
             * @description Your own data: at most 20 keys with texts, together at most 4 KiB.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        EntityQuery: {
            /** @description An active Cable TV or Utility category. */
            serviceCategoryId: string;
            /** @description The number of the smartcard or the meter. */
            entityNumber: string;
        };
        EntityVerification: {
            /** @description Valid for one purchase. */
            meterVerificationId: string;
            /** @description The category of the request. */
            serviceCategoryId: string;
            /** @description The smartcard or meter that was verified. */
            entityNumber: string;
            /** @description The owner's name at the biller. */
            customerName: string;
            /** @description The owner's address; `null` when the biller does not say. */
            address: string | null;
            /** @description Cable TV only. */
            currentPackage: string | null;
            /**
             * @description Cable TV only: until when it is paid, YYYY-MM-DD.
             * @example 2030-02-06
             */
            dueDate: string | null;
            /**
             * @description Cable TV only: what the current package costs, in naira.
             * @example 4400.00
             */
            renewalAmount: Kobo | null;
            /**
             * @description `PREPAID` or `POSTPAID`; Utility only.
             * @example PREPAID
             */
            vendType: string | null;
            /** @description When it was verified. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description Utility only: the smallest amount that you may buy, in naira.
             * @example 500.00
             */
            minVendAmount: Kobo | null;
            /**
             * @description Utility only: the largest amount that you may buy, in naira.
             * @example 500000.00
             */
            maxVendAmount: Kobo | null;
        };
        PurchasePreview: {
            /**
             * @description Always `true`.
             * @constant
             */
            dryRun: true;
            /** @description True if the request would succeed, as far as known without the network. */
            wouldSucceed: boolean;
            /** @description The reason of a refusal; `null` if the request would succeed. */
            refusal: string | null;
            /** @description The price in naira. */
            amount: Kobo;
            /** @description The fee on top of the amount, in naira. */
            fee: Kobo;
            /** @description The amount that would be debited, in naira. */
            total: Kobo;
            /** @description The balance of the settlement account now, in naira. */
            balance: Kobo;
            /** @description The balance afterwards, in naira; unchanged if the request would be refused. */
            balanceAfter: Kobo;
        };
        PurchaseAnswer: {
            /** @description Always `true`. */
            success: components["schemas"]["Succeeded"];
            /** @description The purchase, or its preview. */
            data: components["schemas"]["Purchase"] | components["schemas"]["PurchasePreview"];
            /** @description The result, in words. A repeated TV purchase has none. */
            message?: string;
        };
        UtilityPurchaseAnswer: {
            /** @description Always `true`. */
            success: components["schemas"]["Succeeded"];
            /** @description The purchase, or its preview. */
            data: components["schemas"]["PowerPurchase"] | components["schemas"]["PurchasePreview"];
            /** @description The result, in words. */
            message?: string;
        };
        PowerPurchase: {
            /** @description Fetch the purchase by this id. */
            transactionId: string;
            /**
             * @description `PENDING` means debited with an unknown outcome: do not buy again.
             * @enum {string}
             */
            status: "SUCCESS" | "PENDING";
            /** @description The kind of purchase. */
            type: components["schemas"]["VtuType"];
            /**
             * @description The charged amount in naira.
             * @example 2000.00
             */
            amount: Kobo;
            /** @description When it was bought. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description The code to enter into a prepaid meter.
             * @example 26362054405982757802
             */
            token: string | null;
            /** @description A second code for a prepaid meter, which adds free units. Only where the power company gives one. */
            bonusToken?: string;
            /** @description With `kct2`: the two codes that change the meter's key. Your customer enters both before `token`, which the meter refuses otherwise. Rarely there. */
            kct1?: string;
            /** @description The second code that changes the meter's key. */
            kct2?: string;
            /** @description A code that resets the meter. Rarely there. */
            resetToken?: string;
            /** @description A code that configures the meter. Rarely there. */
            configureToken?: string;
            /**
             * @description The bought units of energy, as the power company states them.
             * @example 12.5
             */
            units?: string;
        };
        Purchase: {
            /** @description Fetch the purchase by this id. */
            transactionId: string;
            /**
             * @description `PENDING` means debited with an unknown outcome: do not buy again.
             * @enum {string}
             */
            status: "SUCCESS" | "PENDING";
            /** @description The kind of purchase. */
            type: components["schemas"]["VtuType"];
            /**
             * @description The charged amount in naira.
             * @example 500.00
             */
            amount: Kobo;
            /** @description When it was bought. */
            createdAt: components["schemas"]["Instant"];
        };
        /** @enum {string} */
        VtuType: "AIRTIME" | "DATA" | "CABLE_TV" | "UTILITY";
        VtuTransaction: {
            /** @description The purchase's id. */
            transactionId: string;
            /**
             * @description `FAILED` always means refunded. `REVERSED` means delivered according to the provider, then returned by it and refunded.
             * @enum {string}
             */
            status: "PENDING" | "SUCCESS" | "FAILED" | "REVERSED";
            /** @description The kind of purchase. */
            type: components["schemas"]["VtuType"];
            /**
             * @description The price in naira.
             * @example 500.00
             */
            amount: Kobo;
            /** @description When it was bought. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description The fee on top of the amount, in naira.
             * @example 0.00
             */
            fee: Kobo;
            /** @description Your own name for the purchase, over all kinds. */
            idempotencyKey: string;
            /**
             * Format: int64
             * @description The settlement account that pays.
             */
            settlementId: number;
            /** @description The category it was bought from. */
            serviceCategoryId: string;
            /** @description The product; `null` where the buyer chooses the amount. */
            productId: string | null;
            /** @description The name of the product; `null` where there is none. */
            productName: string | null;
            /** @description The phone that gets it; `null` for TV and power. */
            phoneNumber: string | null;
            /** @description Cable TV only. */
            cardNumber: string | null;
            /** @description The provider's own id of the purchase. */
            providerReference: string | null;
            /** @description The message of the provider. */
            message: string | null;
            /** @description True when the money is back in the settlement account. */
            refunded: boolean;
            /** @description When its state last changed. */
            updatedAt: components["schemas"]["Instant"];
            /** @description Utility only. */
            meterNumber: string | null;
            /** @description Utility only: the code to enter into a prepaid meter, as soon as it is known. */
            token: string | null;
            /** @description A second code for a prepaid meter, which adds free units. Only where the power company gives one. */
            bonusToken?: string;
            /** @description With `kct2`: the two codes that change the meter's key. Your customer enters both before `token`, which the meter refuses otherwise. Rarely there. */
            kct1?: string;
            /** @description The second code that changes the meter's key. */
            kct2?: string;
            /** @description A code that resets the meter. Rarely there. */
            resetToken?: string;
            /** @description A code that configures the meter. Rarely there. */
            configureToken?: string;
            /**
             * @description The bought units of energy, as the power company states them.
             * @example 12.5
             */
            units?: string;
            /** @description Your own reference, if you gave one. */
            externalReference?: string;
            /**
             * @description Your own data, if you gave any.
             * @example {
             *       "branch": "Ikeja"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
        };
        VtuTransactionPage: {
            /** @description The purchases of this page, newest first. */
            data: components["schemas"]["VtuTransaction"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        CryptoNetwork: {
            /**
             * @description Use it as `networkId`.
             * @example ethereum-mainnet
             */
            id: string;
            /**
             * @description The blockchain.
             * @example ethereum
             */
            chain: string;
            /**
             * @description Its name, for people.
             * @example Ethereum
             */
            name: string;
            /**
             * @description The chain's own coin.
             * @example ETH
             */
            nativeAsset: string;
            /** @description The accepted tokens. */
            tokens: components["schemas"]["CryptoToken"][];
            /** @description Whether addresses can be generated now. */
            isActive: boolean;
            /**
             * Format: int64
             * @description The number of blocks that confirm a transaction, its own included.
             */
            confirmations: number;
        };
        CryptoToken: {
            /**
             * @description Its short name.
             * @example USDT
             */
            symbol: string;
            /**
             * @description The address of its contract.
             * @example 0xdAC17F958D2ee523a2206206994597C13D831ec7
             */
            contractAddress: string;
            /**
             * @description The number of its decimals.
             * @example 6
             */
            decimals: number;
        };
        CryptoAddressRequest: {
            /** @description Your own name for the address. */
            label?: string;
        };
        CryptoAddress: {
            /**
             * @description The deposit address.
             * @example 0x9858EfFD232B4033E47d90003D41EC34EcaEda94
             */
            address: string;
            /**
             * Format: int64
             * @description The index of the address in your extended public key.
             */
            index: number;
            /** @description The network that it belongs to. */
            network: components["schemas"]["CryptoAddressNetwork"];
            /** @description Your own name for the address; absent where none was given. */
            label?: string;
        };
        CryptoAddressNetwork: {
            /**
             * @description The blockchain.
             * @example ethereum
             */
            chain: string;
            /**
             * @description Its name, for people.
             * @example Ethereum
             */
            name: string;
        };
        CryptoAddressList: {
            /** @description All addresses, oldest first. */
            address: components["schemas"]["CryptoAddress"][];
        };
        CryptoTransaction: {
            /**
             * Format: int64
             * @description The transaction's number at Kobo.
             */
            id: number;
            /**
             * @description `deposit` for incoming, `withdrawal` for outgoing transactions.
             * @enum {string}
             */
            type: "deposit" | "withdrawal";
            /**
             * @description `in` for a deposit, `out` for a withdrawal.
             * @enum {string}
             */
            direction: "in" | "out";
            /**
             * @description `pending` until it has enough confirmations (`completed`). `failed`: the chain no longer has it.
             * @enum {string}
             */
            status: "pending" | "completed" | "failed";
            /** @description The transaction's hash on the chain. */
            txHash: string;
            /** @description Whole units of the asset, without the fraction: `0` for 0.25 ETH. `amountDecimal` and `amountUnits` are exact. */
            amount: number;
            /** @description Null for deposits; your address for withdrawals. */
            from: string | null;
            /**
             * @description The coin or token.
             * @example USDT
             */
            asset: string;
            /** @description Your company's reference. */
            companyId: string;
            /**
             * @description The network that it was seen on.
             * @example ethereum-mainnet
             */
            networkId: string;
            /** @description Withdrawals: the destination. Deposits of a token: the other side. Deposits of the native asset: your address. */
            tokenAddress: string;
            /** @description Further data from the chain. */
            meta: components["schemas"]["CryptoMeta"];
            /** @description When it was first seen. */
            createdAt: components["schemas"]["Instant"];
            /** @description When its state last changed. */
            updatedAt: components["schemas"]["Instant"];
            /**
             * @description The exact amount in whole units.
             * @example 0.25
             */
            amountDecimal: string;
            /**
             * @description The exact amount in the asset's smallest units.
             * @example 250000000000000000
             */
            amountUnits: string;
            /**
             * @description How many decimals the asset has.
             * @example 18
             */
            decimals: number;
            /** @description The token's contract; null for the native asset. */
            contractAddress: string | null;
            /** @description Your address. */
            address: string;
        };
        CryptoMeta: {
            /** @description The address of the sender; empty when the chain does not say. */
            from: string;
            /** @description The other side; empty when the chain does not say. */
            counterAddress: string;
            /**
             * Format: int64
             * @description 0 while it is in no block.
             */
            blockNumber: number;
            /** @description The data of the custodian. */
            raw: object;
        };
        CryptoLatest: {
            /** @description The most recent transaction; empty when there is none. */
            data: components["schemas"]["CryptoTransaction"][];
            /** @description The count of all, on the one page there is. */
            meta: components["schemas"]["CryptoLatestMeta"];
        };
        CryptoLatestMeta: {
            /** @description How many transactions there are. */
            total: number;
            /**
             * @description Always 1.
             * @example 1
             */
            page: number;
            /**
             * @description Always 1.
             * @example 1
             */
            limit: number;
            /** @description The number of pages with one transaction each. */
            totalPages: number;
        };
        CryptoTransactionPage: {
            /** @description The transactions of this page, newest first. */
            data: components["schemas"]["CryptoTransaction"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        ListMeta: {
            /** @description The number of this page, from 1. */
            page: number;
            /** @description How many items a page has at most. */
            pageSize: number;
            /** @description How many items the whole list has. */
            totalItems: number;
            /** @description How many pages the whole list has. */
            totalPages: number;
            /** @description True when there is a page after this one. */
            hasNextPage: boolean;
            /** @description True when there is a page before this one. */
            hasPrevPage: boolean;
            /** @description The next page's relative URL. */
            nextPage: string | null;
            /** @description The previous page's relative URL. */
            prevPage: string | null;
            /** @description Position of the first item, counted from 1; 0 when there is none. */
            from: number;
            /** @description Position of the last item; 0 when there is none. */
            to: number;
        };
        Outcome: {
            /** @description For a purchase its `transactionId`. */
            reference: string;
            /**
             * @description What kind of operation it is, such as `DATA`.
             * @example DATA
             */
            type: string;
            /**
             * @description Unresolved while `PENDING`.
             * @example PENDING
             */
            status: string;
            /**
             * @description Naira.
             * @example 500
             */
            amount: Kobo;
            /** @description The number of status queries to the provider, also after it `FAILED`. */
            attempts: number;
            /** @description The last answer of the provider. Of a finished operation the answer that finished it. */
            lastAnswer: string | null;
            /**
             * Format: date-time
             * @description When the provider was last asked; `null` before the first time.
             */
            lastAskedAt: string | null;
            /**
             * Format: date-time
             * @description The time of the next status query. An operation that `FAILED` because the provider had no record of it is queried after 1 h and 24 h.
             */
            nextTryAt: string | null;
            /**
             * Format: date-time
             * @description Of an operation without an outcome: until then, an answer that the provider has no record of it does not count.
             */
            graceEndsAt?: string;
            /**
             * Format: date-time
             * @description Of an operation without an outcome: from then on a person decides, if status queries gave no outcome.
             */
            caseDueAt?: string;
            /** @description True if status queries gave no outcome and a person must decide. */
            needsDecision: boolean;
            /**
             * @description Only if something contradicts the outcome. `OPEN` if a later answer or the statement of the bank contradicts the outcome, and Kobo's operators look into it. `DECIDED` if the operation
             *     `FAILED`, the provider said later that it had carried it out, and the operators have decided: the money is back, and it may have been
             *     paid nevertheless. Do not repeat an operation in doubt before you have asked the operators.
             */
            doubt?: string;
            /** @description When the operation began. */
            createdAt: components["schemas"]["Instant"];
            /** @description The time of the last change. */
            updatedAt: components["schemas"]["Instant"];
        };
        OutcomePage: {
            /** @description The operations of this page, newest first. */
            data: components["schemas"]["Outcome"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        DayBalance: {
            /**
             * Format: date
             * @description The day in Lagos.
             * @example 2030-01-02
             */
            day: string;
            /**
             * @description The balance at the end of the day, or now; naira.
             * @example 98475
             */
            balance: Kobo;
        };
        Timeline: {
            /** @description The reference or id of the payment. */
            reference: string;
            /**
             * @description What it is: `payout`, `vtu`, `card`, `credit`, `collection`, `adjustment`, `transfer`, `customer credit`, `deposit` or `withdrawal`.
             * @example payout
             */
            kind: string;
            /**
             * @description Its state, such as `SUCCESS`.
             * @example SUCCESS
             */
            status: string;
            /**
             * @description Naira, without the fee. 0 for a movement on a chain.
             * @example 1500
             */
            amount: Kobo;
            /**
             * @description Naira.
             * @example 25
             */
            fee: Kobo;
            /** @description When it began. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description The `bulkId` of the bulk payout to which a payout belongs.
             * @example 0199c1f2-7b1e-7c0a-9d3e-000000000021
             */
            bulkPayout?: string;
            /**
             * Format: int64
             * @description The number of its line: that of your file, if you gave one.
             * @example 2
             */
            bulkLine?: number;
            /** @description What happened, oldest first. */
            steps: components["schemas"]["TimelineStep"][];
        };
        TimelineStep: {
            /** @description When it happened. */
            at: components["schemas"]["Instant"];
            /**
             * @description The kind of step: `request`, `intent`, `transfer`, `answer`, `state`, `event`, `delivery`, `case` or `approval`. There may be further kinds later.
             * @example transfer
             */
            what: string;
            /**
             * @description The step in words for people. The words may change.
             * @example first call: confirmed (00) Approved
             */
            text: string;
            /** @description The amount that moved, of a `transfer`. */
            transfer: components["schemas"]["TimelineTransfer"] | null;
            /**
             * Format: int64
             * @description The `sequence` of the event, of an `event` or `delivery`.
             * @example 42
             */
            event: number | null;
            /**
             * Format: date-time
             * @description When a delivery that waits is tried next.
             */
            nextAttemptAt?: string;
        };
        TimelineTransfer: {
            /**
             * @description The account in your ledger that was debited, such as `settlement/1`; `outside` for money that came in.
             * @example settlement/1
             */
            from: string;
            /**
             * @description The account in your ledger that was credited, such as `clearing/payout`; `outside` for money that went out.
             * @example clearing/payout
             */
            to: string;
            /**
             * @description Naira.
             * @example 1525
             */
            amount: Kobo;
            /**
             * @description The balance of `from` afterwards, in naira; `null` for `outside`.
             * @example 98475
             */
            fromBalance: Kobo | null;
            /**
             * @description The balance of `to` afterwards, in naira; `null` for `outside`.
             * @example 1525
             */
            toBalance: Kobo | null;
        };
        Event: {
            /**
             * @description The same in every delivery of the event.
             * @example 0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e
             */
            id: string;
            /**
             * Format: int64
             * @description Counts your events, without a gap.
             * @example 42
             */
            sequence: number;
            /**
             * @description The kind: `vtu.pending`, `vtu.success`, `vtu.failed`, `kyb.changed`, …
             * @example vtu.success
             */
            event: string;
            /** @description The time of the event. It never decreases with `sequence`. */
            createdAt: components["schemas"]["Instant"];
            /**
             * @description Your company's reference.
             * @example c3v7k2m9x4
             */
            companyId: string;
            /**
             * @description Where the event happened. Only `live` is about real money.
             * @example live
             * @enum {string}
             */
            environment: "dev" | "staging" | "live";
            /** @description The object, as its GET operation shows it. */
            data: object;
        };
        EventFeed: {
            /** @description The events after `after`, oldest first. */
            data: components["schemas"]["Event"][];
            /** @description True when there are more events after these. */
            hasMore: boolean;
        };
        /**
         * @description The kind of an event.
         * @enum {string}
         */
        EventKind: "customer.created" | "customer.account_generated" | "customer.erased" | "transaction.credit" | "virtual_account.success" | "virtual_account.failed" | "virtual_account.late_payment" | "settlement.bank_account_attached" | "settlement.status_changed" | "settlement.adjusted" | "settlement.account_created" | "settlement.alert_changed" | "card.address_changed" | "crypto.key_changed" | "payout.pending" | "payout.success" | "payout.failed" | "payout.reversed" | "bulk_payout.checked" | "bulk_payout.completed" | "vtu.pending" | "vtu.success" | "vtu.failed" | "vtu.reversed" | "card.generated" | "card.funding_pending" | "card.funded" | "card.funding_failed" | "card.frozen" | "card.unfrozen" | "card.terminated" | "crypto.deposit_pending" | "crypto.deposit_completed" | "crypto.deposit_failed" | "crypto.withdrawal_completed" | "crypto.withdrawal_failed" | "corporate.kyc_verified" | "corporate.account_created" | "corporate.account_updated" | "kyb.changed" | "settlement.credit" | "settlement.low_balance" | "checkpoint.signed" | "webhook.endpoint_failing" | "company.api_key_issued" | "company.api_key_revoked" | "company.key_token_issued" | "company.pin_token_issued" | "company.pin_changed" | "company.pin_locked" | "company.pin_unlocked" | "company.live_changed" | "company.limits_changed" | "company.fees_changed" | "company.renewal_due";
        WebhookRequest: {
            /** @description The URL of your server; public and https. */
            url: string;
            /** @description For yourself. */
            description?: string;
            /** @description The kinds of events to send; empty or absent for all. */
            events?: components["schemas"]["EventKind"][];
            /**
             * @description False for a paused webhook.
             * @default true
             */
            active?: boolean;
        };
        WebhookUpdate: {
            /** @description The URL of your server; public and https. */
            url?: string;
            /** @description For yourself. */
            description?: string;
            /** @description The kinds of events to send; empty for all. */
            events?: components["schemas"]["EventKind"][];
            /** @description False pauses the webhook. */
            active?: boolean;
        };
        Webhook: {
            /** @description The webhook's id. */
            id: string;
            /**
             * @description The URL that events are posted to.
             * @example https://example.com/hooks/kobo
             */
            url: string;
            /** @description Your own note; `null` for none. */
            description: string | null;
            /** @description Empty for all. */
            events: components["schemas"]["EventKind"][];
            /**
             * @description `FAILING`: a delivery failed for 72 hours, and none has succeeded since. Kobo still sends new events.
             * @enum {string}
             */
            status: "ACTIVE" | "FAILING" | "PAUSED";
            /**
             * @description The key of the signatures. Only in the answers that create and rotate it.
             * @example whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD
             */
            secret?: string;
            /**
             * Format: date-time
             * @description The first failed attempt since the last success.
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description The time until which the previous secret signs too.
             */
            oldSecretUntil: string | null;
            /** @description The undelivered events. */
            backlog?: components["schemas"]["WebhookBacklog"];
            /** @description When it was created. */
            createdAt: components["schemas"]["Instant"];
            /** @description When it last changed. */
            updatedAt: components["schemas"]["Instant"];
        };
        /** @description The undelivered events of an endpoint. Only in the answer for one webhook. */
        WebhookBacklog: {
            /**
             * Format: int64
             * @description The last event that was sent.
             */
            sequence: number;
            /**
             * Format: int64
             * @description Events after that.
             */
            behind: number;
            /**
             * Format: int64
             * @description Deliveries that failed and are tried again.
             */
            retrying: number;
            /**
             * Format: int64
             * @description Failed deliveries that are not tried again.
             */
            failed: number;
        };
        WebhookDelivery: {
            /** @description The delivery's id. */
            id: string;
            /** @description The webhook that it goes to. */
            webhookId: string;
            /** @description The event's `id`; the header `webhook-id`. */
            eventId: string;
            /**
             * @description The kind of the event.
             * @example vtu.success
             */
            event: string;
            /**
             * Format: int64
             * @description The event's; 0 for a test.
             */
            sequence: number;
            /**
             * @description `PENDING` is tried again, `FAILED` is not.
             * @enum {string}
             */
            status: "PENDING" | "DELIVERED" | "FAILED";
            /**
             * Format: int64
             * @description The number of attempts.
             */
            attempts: number;
            /**
             * Format: int64
             * @description The HTTP status of the last answer.
             */
            responseStatus: number | null;
            /**
             * Format: int64
             * @description The duration of the last attempt.
             */
            latencyMs: number | null;
            /** @description The beginning of the last answer's body. */
            response: string | null;
            /** @description The reason why the last attempt failed, or why there is none: the event is archived. */
            error: string | null;
            /**
             * Format: date-time
             * @description When it is sent again; `null` when it is not.
             */
            nextAttemptAt: string | null;
            /** @description When the delivery was made. */
            createdAt: components["schemas"]["Instant"];
            /** @description When its state last changed. */
            updatedAt: components["schemas"]["Instant"];
            /** @description Each attempt, oldest first. Only in the answer for one delivery, and not before the first attempt. */
            history?: components["schemas"]["WebhookAttempt"][];
        };
        /** @description One attempt of a delivery. */
        WebhookAttempt: {
            /**
             * Format: int64
             * @description The number of the attempt.
             */
            attempt: number;
            /** @description When the attempt ended. */
            at: components["schemas"]["Instant"];
            /**
             * Format: int64
             * @description The HTTP status of the answer.
             */
            responseStatus: number | null;
            /**
             * Format: int64
             * @description The duration of the attempt.
             */
            latencyMs: number;
            /** @description The beginning of the answer's body, redacted: up to 1 KiB of a failed attempt, less of a success. */
            response: string | null;
            /** @description The reason why the attempt failed. */
            error: string | null;
        };
        WebhookDeliveryPage: {
            /** @description The deliveries of this page, newest first. */
            data: components["schemas"]["WebhookDelivery"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        WebhookReplayRequest: {
            /** @description The first event: its sequence, or an instant or day. */
            from: number | string;
            /** @description The last event, likewise. */
            to: number | string;
        };
        WebhookReplay: {
            /** @description The webhook that it goes to. */
            webhookId: string;
            /**
             * Format: int64
             * @description The sequence of the first event that is sent again.
             */
            from: number;
            /**
             * Format: int64
             * @description The sequence of the last one.
             */
            to: number;
            /** @description When you asked for it. */
            requestedAt: components["schemas"]["Instant"];
        };
        IdempotencyUse: {
            /** @description The key, as it was sent. */
            key: string;
            /**
             * @description `RUNNING`: the request has no answer yet. Repeat it with the same key to get one.
             * @enum {string}
             */
            status: "RUNNING" | "DONE";
            /** @description The id of the object that the request made before its answer; for a purchase its `transactionId`. */
            reference: string | null;
            /**
             * Format: int64
             * @description The HTTP status of the answer.
             */
            responseStatus: number | null;
            /** @description The answer's body; `null` after 13 months. */
            response: object | null;
            /** @description When it was first used. */
            createdAt: components["schemas"]["Instant"];
        };
        Checkpoint: {
            /**
             * Format: int64
             * @description The number of rows in the tree.
             * @example 512
             */
            size: number;
            /** @description The root of the tree in base64. */
            root: string;
            /** @description The signed note, with the line breaks that belong to it. */
            checkpoint: string;
            /** @description The time of the signature. */
            createdAt: components["schemas"]["Instant"];
        };
        CheckpointPage: {
            /** @description The checkpoints of this page, newest first. */
            data: components["schemas"]["Checkpoint"][];
            /** @description The place of this page in the whole list. */
            meta: components["schemas"]["ListMeta"];
        };
        CheckpointKey: {
            /** @description The present key in the format of signed notes: name, hash and key. */
            key: string;
            /** @description The 32 bytes of the present Ed25519 key in base64. */
            publicKey: string;
            /** @description The earlier keys, in the format of `key`. They still sign. */
            earlier: string[];
        };
        ConsistencyProof: {
            /** @description The earlier checkpoint. */
            from: components["schemas"]["Checkpoint"];
            /** @description The later checkpoint. */
            to: components["schemas"]["Checkpoint"];
            /** @description The hashes of the proof in base64, in the order of RFC 6962. */
            proof: string[];
        };
        Receipt: {
            /** @description The row. */
            leaf: components["schemas"]["ReceiptLeaf"];
            /**
             * Format: int64
             * @description The position of the leaf in the tree, counted from 0.
             */
            index: number;
            /** @description The hashes of the proof in base64, in the order of RFC 6962. */
            proof: string[];
            /** @description The signed note of your tree. */
            checkpoint: string;
            /** @description The proof that your checkpoint is in the tree of all checkpoints, which shows only hashes of other companies. */
            deployment: components["schemas"]["ReceiptAnchor"];
        };
        ReceiptLeaf: {
            /** @description The first 22 bytes of the leaf's data; empty if the row was erased. */
            salt: string;
            /** @description The rest of the leaf's data in base64: the table, then the names and the values of its columns, each after its length. Empty if the row was erased. */
            content: string;
            /** @description The hash of the leaf in base64: SHA-256 of a zero byte and the data. */
            hash: string;
            /** @description True if Kobo withholds the content, because a person was erased from the row. No proof covers this value. */
            erased: boolean;
        };
        ReceiptAnchor: {
            /**
             * Format: int64
             * @description The position of your checkpoint in the tree of all checkpoints. Its leaf is the text of the note, up to the blank line.
             */
            index: number;
            /** @description The hashes of the proof in base64. */
            proof: string[];
            /** @description The signed note of the tree of all checkpoints. */
            checkpoint: string;
        };
        Integrity: {
            /** @description True if all values below agree. */
            intact: boolean;
            /**
             * Format: int64
             * @description The sequence of the last event in the check.
             */
            verifiedThrough: number;
            /** @description The time of the check. */
            verifiedAt: components["schemas"]["Instant"];
            /**
             * Format: int64
             * @description The sequence of the last event in the last check without a difference. While `intact` is true, it equals `verifiedThrough`.
             */
            verifiedUpTo: number;
            /**
             * Format: date-time
             * @description When the last check of all rows began; `null` before the first one.
             */
            fullWalkAt: string | null;
            /** @description Each of your accounts in the ledger. */
            accounts: components["schemas"]["AccountCheck"][];
            /** @description Money on its way, beside its operations. */
            inFlight: components["schemas"]["InFlightCheck"];
        };
        AccountCheck: {
            /** @description The ledger account. */
            account: string;
            /**
             * Format: int64
             * @description The number of entries.
             */
            entries: number;
            /** @description The stored balance; naira. */
            balance: Kobo;
            /** @description The sum of the entries; naira. */
            recomputed: Kobo;
            /** @description True when both are the same. */
            intact: boolean;
        };
        InFlightCheck: {
            /** @description Money on its way in the ledger; naira. */
            clearing: Kobo;
            /**
             * Format: int64
             * @description How many operations are open.
             */
            openOperations: number;
            /** @description The sum of the open operations; naira. */
            openAmount: Kobo;
            /** @description True when both sums are the same. */
            intact: boolean;
        };
    };
    responses: never;
    parameters: {
        /**
         * @description With `true` nothing is written and no provider is asked: the answer says what would happen. An `Idempotency-Key` is not used up
         *     and gives no stored answer. The only values are `true` and `false`. Operations without a dry run refuse the parameter.
         */
        DryRun: boolean;
        /**
         * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
         *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
         *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
         *     has a meaning of its own.
         *
         *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
         *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
         */
        IdempotencyKey: string;
        /**
         * @description An `id` from the list of networks.
         * @example ethereum-mainnet
         */
        CryptoNetworkId: string;
        /** @description The number of the page. Zero, a negative number or a text means the first page. */
        Page: number;
        /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
        PageSize: number;
        /**
         * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
         * @example 2030-01-02
         */
        From: string;
        /**
         * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
         * @example 2030-01-02T12:00:00Z
         */
        To: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    generateToken: {
        parameters: {
            query?: never;
            header: {
                /** @description The company's API key, in plain text. It never leaves your backend. */
                "x-api-key": string;
            };
            path: {
                /**
                 * @description The company's reference, given at onboarding.
                 * @example c3v7l0q9d2
                 */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "accessToken": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
                     *       "refreshToken": "eyJhbGciOiJIUzI1NiJ9.e30.cmVm"
                     *     }
                     */
                    "application/json": components["schemas"]["Tokens"];
                };
            };
        };
    };
    refreshAccessToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "refreshToken": "eyJhbGciOiJIUzI1NiJ9.e30.cmVm"
                 *     }
                 */
                "application/json": components["schemas"]["RefreshRequest"];
            };
        };
        responses: {
            /** @description The access token alone. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "accessToken": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"
                     *     }
                     */
                    "application/json": components["schemas"]["AccessToken"];
                };
            };
        };
    };
    claimKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The company's reference, given at onboarding.
                 * @example c3v7l0q9d2
                 */
                reference: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "keyToken": "kobo_keytoken_0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e.wq3Yx2v0"
                 *     }
                 */
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            /** @description The API key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "apiKey": "kobo_live_9Qe2u3Yx",
                     *       "otherKeys": 0
                     *     }
                     */
                    "application/json": components["schemas"]["ClaimedKey"];
                };
            };
        };
    };
    initiateCorporateKyc: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bvn": "22222222222"
                 *     }
                 */
                "application/json": components["schemas"]["KycInitiation"];
            };
        };
        responses: {
            /** @description The OTP is on its way. `message` is the text of the BVN provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "message": "OTP sent",
                     *       "data": {
                     *         "session_id": "0199c1f2-7b1e-7c0a-9d3e-00000000000a",
                     *         "kyc_id": "0199c1f2-7b1e-7c0a-9d3e-00000000000a"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The message of the BVN provider. */
                        message: string;
                        /** @description The session that was opened, or was open already. */
                        data: components["schemas"]["KycSession"];
                    };
                };
            };
        };
    };
    retryCorporateOtp: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "session_id": "0199c1f2-7b1e-7c0a-9d3e-00000000000a"
                 *     }
                 */
                "application/json": components["schemas"]["OtpRetry"];
            };
        };
        responses: {
            /** @description Another OTP is on its way. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "message": "OTP re-sent",
                     *       "data": {
                     *         "session_id": "0199c1f2-7b1e-7c0a-9d3e-00000000000a"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The session that has another OTP. */
                        data: components["schemas"]["RetriedSession"];
                    };
                };
            };
        };
    };
    validateCorporateKyc: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "session_id": "0199c1f2-7b1e-7c0a-9d3e-00000000000a",
                 *       "otp": "123456"
                 *     }
                 */
                "application/json": components["schemas"]["KycValidation"];
            };
        };
        responses: {
            /** @description The identity is proven. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "message": "BVN OTP validated",
                     *       "data": {
                     *         "kyc_id": "0199c1f2-7b1e-7c0a-9d3e-00000000000b"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The proven identity. */
                        data: components["schemas"]["KycRecord"];
                    };
                };
            };
        };
    };
    generateCorporateAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phoneNumber": "08012345678",
                 *       "emailAddress": "ada@example.com",
                 *       "rn_number": "RC123456",
                 *       "kyc_id": "0199c1f2-7b1e-7c0a-9d3e-00000000000b",
                 *       "settlementId": 1
                 *     }
                 */
                "application/json": components["schemas"]["CorporateAccountRequest"];
            };
        };
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The bank account, new or existing. */
                        data: components["schemas"]["CorporateAccount"];
                    };
                };
            };
        };
    };
    createCustomer: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "firstName": "Ada",
                 *       "lastName": "Obi",
                 *       "middleName": "Ngozi",
                 *       "email": "ada@example.com",
                 *       "phoneNumber": "08012345678",
                 *       "bvn": "22222222222",
                 *       "dateOfBirth": "1990-05-17",
                 *       "address": {
                 *         "line1": "1 Marina",
                 *         "line2": "Floor 3",
                 *         "city": "Lagos",
                 *         "state": "Lagos",
                 *         "country": "NG",
                 *         "postalCode": "100001"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CustomerRequest"];
            };
        };
        responses: {
            /** @description The customer, waiting for the OTP. `message` is the text of the BVN provider. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The message of the BVN provider. */
                        message: string;
                        /** @description The new customer. */
                        data: components["schemas"]["NewCustomer"];
                    };
                };
            };
        };
    };
    resendCustomerOtp: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "customerId": "ada@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["CustomerOtpRetry"];
            };
        };
        responses: {
            /** @description Another OTP is on its way. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "message": "OTP re-sent",
                     *       "data": {
                     *         "customerId": "0199c1f2-7b1e-7c0a-9d3e-00000000000c"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The customer who gets the OTP. */
                        data: components["schemas"]["ResentCustomer"];
                    };
                };
            };
        };
    };
    generateCustomerAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "customerId": "ada@example.com",
                 *       "otp": "123456",
                 *       "settlementId": 1
                 *     }
                 */
                "application/json": components["schemas"]["CustomerAccountRequest"];
            };
        };
        responses: {
            /** @description The account is open. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "message": "Account created successfully"
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                    };
                };
            };
        };
    };
    listCustomers: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only customers whose name, e-mail address or phone number contains this text. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of customers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of customers. */
                        data: components["schemas"]["CustomerPage"];
                    };
                };
            };
        };
    };
    findCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The customer's id or e-mail address. */
                customer: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The customer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The customer. */
                        data: components["schemas"]["Customer"];
                    };
                };
            };
        };
    };
    listTransactions: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
                /** @description Only payments into this customer's account, by the customer's id. */
                customerId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of transactions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of transactions. */
                        data: components["schemas"]["TransactionPage"];
                    };
                };
            };
        };
    };
    listCustomerTransactions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The customer's id. (An e-mail address finds nothing.) */
                customer: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transactions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The newest 50 transactions of the customer. */
                        data: components["schemas"]["CustomerTransaction"][];
                    };
                };
            };
        };
    };
    findCustomerTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The customer's id. */
                customer: string;
                /** @description The transaction's id. */
                transactionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transaction, or null. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The transaction, or `null` when the customer has none with this id. */
                        data: components["schemas"]["CustomerTransaction"] | null;
                    };
                };
            };
        };
    };
    findCompany: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The company. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description Your company. */
                        data: components["schemas"]["Company"];
                    };
                };
            };
        };
    };
    listAPIKeys: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of API keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The page. */
                        data: components["schemas"]["APIKeyPage"];
                    };
                };
            };
        };
    };
    issueAPIKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "pin": "1234",
                 *       "name": "Shop server",
                 *       "expiresAt": "2031-01-02T03:04:05.678Z"
                 *     }
                 */
                "application/json": components["schemas"]["APIKeyRequest"];
            };
        };
        responses: {
            /** @description The new API key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description What was done. */
                        message: string;
                        /** @description The key. */
                        data: components["schemas"]["IssuedAPIKey"];
                    };
                };
            };
            /** @description The company requires two people. Nothing has happened yet; the approval waits for a second person. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Waiting for a second person
                         */
                        message: string;
                        /** @description The approval that waits. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    revokeAPIKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "pin": "1234"
                 *     }
                 */
                "application/json": components["schemas"]["APIKeyRevocation"];
            };
        };
        responses: {
            /** @description The key is revoked. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example API key revoked
                         */
                        message: string;
                    };
                };
            };
            /** @description The company requires two people. Nothing has happened yet; the approval waits for a second person. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Waiting for a second person
                         */
                        message: string;
                        /** @description The approval that waits. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    setTwoPeople: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "on": true
                 *     }
                 */
                "application/json": components["schemas"]["TwoPeopleRequest"];
            };
        };
        responses: {
            /** @description The company requires two people. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Two people are required
                         */
                        message: string;
                    };
                };
            };
            /** @description The rule stays until a second person approves that it ends. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Waiting for a second person
                         */
                        message: string;
                        /** @description The approval that waits. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    setPayoutApproval: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "amount": 500000
                 *     }
                 */
                "application/json": components["schemas"]["PayoutApprovalRequest"];
            };
        };
        responses: {
            /** @description The rule holds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example The rule holds
                         */
                        message: string;
                    };
                };
            };
            /** @description The rule stays until a second person approves the weaker one. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Waiting for a second person
                         */
                        message: string;
                        /** @description The approval that waits. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    listApprovals: {
        parameters: {
            query?: {
                /** @description With `true`, only what still waits. */
                waiting?: boolean;
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of approvals. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The page. */
                        data: components["schemas"]["ApprovalPage"];
                    };
                };
            };
        };
    };
    findApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The approval's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The approval. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The approval. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    approveRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The approval's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Approved
                         */
                        message: string;
                        /** @description The approval, with a new API key. */
                        data: components["schemas"]["DecidedApproval"];
                    };
                };
            };
        };
    };
    rejectRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The approval's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Rejected
                         */
                        message: string;
                        /** @description The approval. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    setPIN: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "currentPin": "1234",
                 *       "pin": "4071"
                 *     }
                 */
                "application/json": components["schemas"]["OwnPinRequest"];
            };
        };
        responses: {
            /** @description The new PIN counts from now on. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "message": "PIN changed"
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description What was done. */
                        message: string;
                    };
                };
            };
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description The most rows of a page. A number above 100 means 100. Zero, a negative number or a text means 50. */
                limit?: number;
                /** @description The `next` of the page before. */
                cursor?: string;
                /** @description Only requests with this method. */
                method?: "GET" | "POST" | "DELETE";
                /** @description Only answers with this status (`400`), or of this class (`4xx`). */
                status?: string;
                /** @description Only the request with this `X-Request-Id`. */
                requestId?: string;
                /** @description Only requests with this `Idempotency-Key`. */
                idempotencyKey?: string;
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of requests. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The page. */
                        data: components["schemas"]["RequestPage"];
                    };
                };
            };
        };
    };
    listSettlementAccounts: {
        parameters: {
            query?: {
                /**
                 * @description The instant, or the day, of the balances. Without it they are those of now.
                 * @example 2030-01-02T12:00:00Z
                 */
                at?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The accounts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description All your settlement accounts, by `id`. */
                        data: components["schemas"]["SettlementAccount"][];
                    };
                };
            };
        };
    };
    createSettlementAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Payroll"
                 *     }
                 */
                "application/json": components["schemas"]["SettlementAccountRequest"];
            };
        };
        responses: {
            /** @description The new account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The new settlement account. */
                        data: components["schemas"]["SettlementAccount"];
                    };
                };
            };
        };
    };
    setSettlementAlert: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The settlement account's `id`. */
                settlementId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "lowBalance": 50000
                 *     }
                 */
                "application/json": components["schemas"]["SettlementAlertRequest"];
            };
        };
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The settlement account in its present state. */
                        data: components["schemas"]["SettlementAccount"];
                    };
                };
            };
        };
    };
    listDayBalances: {
        parameters: {
            query?: {
                /** @description The number of days, with today. */
                days?: number;
            };
            header?: never;
            path: {
                /** @description The settlement account's `id`. */
                settlementId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The balances. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The days, oldest first. */
                        data: components["schemas"]["DayBalance"][];
                    };
                };
            };
        };
    };
    generateVirtualAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "amount": 2500,
                 *       "externalReference": "invoice-2417",
                 *       "settlementId": 1,
                 *       "validFor": 1800,
                 *       "accountName": "Ada Stores",
                 *       "amountControl": "Fixed",
                 *       "metadata": {
                 *         "branch": "Ikeja"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["VirtualAccountRequest"];
            };
        };
        responses: {
            /** @description The account, new or existing. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The virtual account. */
                        data: components["schemas"]["VirtualAccount"];
                    };
                };
            };
        };
    };
    listVirtualAccounts: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only virtual accounts with this status. */
                status?: "PENDING" | "SUCCESS" | "FAILED";
                /** @description Only virtual accounts whose payments go to this settlement account. */
                settlementId?: number;
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
                /** @description Only the virtual account with this name of your own. */
                externalReference?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of virtual accounts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of virtual accounts. */
                        data: components["schemas"]["VirtualAccountPage"];
                    };
                };
            };
        };
    };
    findVirtualAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `virtual_trx_id` that was returned when the virtual account was generated. */
                transactionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The collection. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The collection in its present state. */
                        data: components["schemas"]["VirtualAccountTransaction"];
                    };
                };
            };
        };
    };
    listBanks: {
        parameters: {
            query?: {
                /**
                 * @description Only banks whose name contains this text.
                 * @example access
                 */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The banks. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The banks, by name. */
                        data: components["schemas"]["Bank"][];
                    };
                };
            };
        };
    };
    validateAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bank_code": "000014",
                 *       "account_number": "0123456789",
                 *       "pin": "1234",
                 *       "fromSettlementId": 1
                 *     }
                 */
                "application/json": components["schemas"]["AccountValidation"];
            };
        };
        responses: {
            /** @description The account and its name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e",
                     *         "account_name": "ADA OBI",
                     *         "account_number": "0123456789"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description The account and the name of its owner. */
                        data: components["schemas"]["ValidatedAccount"];
                    };
                };
            };
        };
    };
    sendPayout: {
        parameters: {
            query?: {
                /**
                 * @description With `true` nothing is written and no provider is asked: the answer says what would happen. An `Idempotency-Key` is not used up
                 *     and gives no stored answer. The only values are `true` and `false`. Operations without a dry run refuse the parameter.
                 */
                dry_run?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "verify_id": "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e",
                 *       "amount": 5000,
                 *       "narration": "Rent",
                 *       "externalReference": "order-2417",
                 *       "metadata": {
                 *         "branch": "Ikeja"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PayoutOrder"];
            };
        };
        responses: {
            /** @description Paid, being confirmed, or the preview of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result of the payout, in words. */
                        message: string;
                        /** @description The payout, or its preview. */
                        data: components["schemas"]["SentPayout"] | components["schemas"]["PayoutPreview"];
                    };
                };
            };
            /** @description A person of the company has asked for it, and the company requires a second person. Nothing has moved; the approval waits. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Waiting for a second person
                         */
                        message: string;
                        /** @description The approval that waits. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    listPayouts: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only payouts from this settlement account. */
                settlementId?: number;
                /** @description Only payouts in this state. */
                status?: "PENDING" | "SUCCESS" | "FAILED" | "REVERSED";
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
                /** @description Only the payout with this reference of your own. */
                externalReference?: string;
                /**
                 * @description Only payouts with these values in their `metadata`, as in `metadata[branch]=Ikeja`; at most 20.
                 * @example {
                 *       "branch": "Ikeja"
                 *     }
                 */
                metadata?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of payouts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of payouts. */
                        data: components["schemas"]["PayoutPage"];
                    };
                };
            };
        };
    };
    transferFunds: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "fromSettlementId": 1,
                 *       "toSettlementId": 2,
                 *       "amount": 250000,
                 *       "narration": "Salaries of March"
                 *     }
                 */
                "application/json": components["schemas"]["TransferOrder"];
            };
        };
        responses: {
            /** @description Transferred. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The transfer. */
                        data: components["schemas"]["OwnTransfer"];
                    };
                };
            };
        };
    };
    listBulkPayouts: {
        parameters: {
            query?: {
                /** @description The most bulk payouts of a page. A number above 20 means 20. Zero, a negative number or a text means 20. */
                limit?: number;
                /** @description The `next` of the page before. */
                cursor?: string;
                /** @description Only bulk payouts in this state. */
                state?: "CHECKING" | "CHECKED" | "CONFIRMED" | "COMPLETED" | "CANCELLED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of bulk payouts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "data": {
                     *         "data": [
                     *           {
                     *             "bulkId": "0199c1f2-7b1e-7c0a-9d3e-000000000021",
                     *             "state": "CHECKED",
                     *             "fromSettlementId": 1,
                     *             "lineCount": 2,
                     *             "checking": 0,
                     *             "good": 2,
                     *             "bad": 0,
                     *             "amount": 180000,
                     *             "fee": 50,
                     *             "pending": 0,
                     *             "succeeded": 0,
                     *             "failed": 0,
                     *             "createdAt": "2030-01-02T03:04:05.678Z",
                     *             "expiresAt": "2030-01-03T03:04:05.678Z",
                     *             "checkedAt": "2030-01-02T03:04:15.678Z",
                     *             "confirmedAt": null,
                     *             "endedAt": null
                     *           }
                     *         ],
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of bulk payouts. */
                        data: components["schemas"]["BulkPayoutList"];
                    };
                };
            };
        };
    };
    openBulkPayout: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "fromSettlementId": 1,
                 *       "pin": "1234",
                 *       "lines": [
                 *         {
                 *           "bank_code": "000014",
                 *           "account_number": "0123456789",
                 *           "amount": 90000,
                 *           "narration": "Salary of March",
                 *           "externalReference": "march-ada",
                 *           "metadata": {
                 *             "branch": "Ikeja"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["BulkPayoutOrder"];
            };
        };
        responses: {
            /** @description Stored. Kobo asks for the names. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "data": {
                     *         "bulkId": "0199c1f2-7b1e-7c0a-9d3e-000000000021",
                     *         "state": "CHECKING",
                     *         "fromSettlementId": 1,
                     *         "lineCount": 2,
                     *         "checking": 2,
                     *         "good": 0,
                     *         "bad": 0,
                     *         "amount": 0,
                     *         "fee": 0,
                     *         "pending": 0,
                     *         "succeeded": 0,
                     *         "failed": 0,
                     *         "createdAt": "2030-01-02T03:04:05.678Z",
                     *         "expiresAt": "2030-01-03T03:04:05.678Z",
                     *         "checkedAt": null,
                     *         "confirmedAt": null,
                     *         "endedAt": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The bulk payout. */
                        data: components["schemas"]["BulkPayout"];
                    };
                };
            };
        };
    };
    findBulkPayout: {
        parameters: {
            query?: {
                /** @description Only lines after the line with this number. */
                after?: number;
                /** @description The most lines in the answer. A number above 1000 means 1000. Zero, a negative number or a text means the default. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The `bulkId` of a bulk payout. */
                bulkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bulk payout. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "data": {
                     *         "bulkId": "0199c1f2-7b1e-7c0a-9d3e-000000000021",
                     *         "state": "CHECKED",
                     *         "fromSettlementId": 1,
                     *         "lineCount": 2,
                     *         "checking": 0,
                     *         "good": 2,
                     *         "bad": 0,
                     *         "amount": 180000,
                     *         "fee": 50,
                     *         "pending": 0,
                     *         "succeeded": 0,
                     *         "failed": 0,
                     *         "createdAt": "2030-01-02T03:04:05.678Z",
                     *         "expiresAt": "2030-01-03T03:04:05.678Z",
                     *         "checkedAt": "2030-01-02T03:04:15.678Z",
                     *         "confirmedAt": null,
                     *         "endedAt": null,
                     *         "lines": [
                     *           {
                     *             "line": 1,
                     *             "bank_code": "000014",
                     *             "account_number": "0123456789",
                     *             "amount": 90000,
                     *             "narration": "Salary of March",
                     *             "verdict": "GOOD",
                     *             "bank_name": "Access Bank",
                     *             "account_name": "ADA OBI",
                     *             "fee": 25,
                     *             "reason": null,
                     *             "reference": null,
                     *             "status": null,
                     *             "doubleOf": null,
                     *             "doubleOfLine": null,
                     *             "externalReference": "march-ada"
                     *           }
                     *         ],
                     *         "nextAfter": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The bulk payout. */
                        data: components["schemas"]["BulkPayoutPage"];
                    };
                };
            };
        };
    };
    confirmBulkPayout: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The `bulkId` of a bulk payout. */
                bulkId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "pin": "1234"
                 *     }
                 */
                "application/json": components["schemas"]["BulkPayoutConfirmation"];
            };
        };
        responses: {
            /** @description Confirmed. Each good line is debited. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "data": {
                     *         "bulkId": "0199c1f2-7b1e-7c0a-9d3e-000000000021",
                     *         "state": "CONFIRMED",
                     *         "fromSettlementId": 1,
                     *         "lineCount": 2,
                     *         "checking": 0,
                     *         "good": 2,
                     *         "bad": 0,
                     *         "amount": 180000,
                     *         "fee": 50,
                     *         "pending": 2,
                     *         "succeeded": 0,
                     *         "failed": 0,
                     *         "createdAt": "2030-01-02T03:04:05.678Z",
                     *         "expiresAt": "2030-01-03T03:04:05.678Z",
                     *         "checkedAt": "2030-01-02T03:04:15.678Z",
                     *         "confirmedAt": "2030-01-02T03:05:00.678Z",
                     *         "endedAt": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The bulk payout. */
                        data: components["schemas"]["BulkPayout"];
                    };
                };
            };
            /** @description A person of the company has asked for it, and the company requires a second person. Nothing has moved; the approval waits. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description What was done.
                         * @example Waiting for a second person
                         */
                        message: string;
                        /** @description The approval that waits. */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
        };
    };
    cancelBulkPayout: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The `bulkId` of a bulk payout. */
                bulkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancelled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "success",
                     *       "data": {
                     *         "bulkId": "0199c1f2-7b1e-7c0a-9d3e-000000000021",
                     *         "state": "CANCELLED",
                     *         "fromSettlementId": 1,
                     *         "lineCount": 2,
                     *         "checking": 0,
                     *         "good": 2,
                     *         "bad": 0,
                     *         "amount": 180000,
                     *         "fee": 50,
                     *         "pending": 0,
                     *         "succeeded": 0,
                     *         "failed": 0,
                     *         "createdAt": "2030-01-02T03:04:05.678Z",
                     *         "expiresAt": "2030-01-03T03:04:05.678Z",
                     *         "checkedAt": "2030-01-02T03:04:15.678Z",
                     *         "confirmedAt": null,
                     *         "endedAt": "2030-01-02T03:05:00.678Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The bulk payout. */
                        data: components["schemas"]["BulkPayout"];
                    };
                };
            };
        };
    };
    findPayout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payout's `reference`, which is its `verify_id`. */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payout. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The payout in its present state. */
                        data: components["schemas"]["Payout"];
                    };
                };
            };
        };
    };
    listLedgerEntries: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only entries of this settlement account. */
                settlementId?: number;
                /** @description Only credits, or only debits. */
                type?: "credit" | "debit";
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of entries. */
                        data: components["schemas"]["LedgerPage"];
                    };
                };
            };
        };
    };
    findLedgerEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The entry's reference: the `verify_id` of a payout, or the `transactionId` of a purchase. */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The entry. */
                        data: components["schemas"]["LedgerEntry"];
                    };
                };
            };
        };
    };
    listCredits: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only credits that this settlement account received. */
                settlementId?: number;
                /** @description Only credits on accounts of this kind. */
                receiver?: "settlement" | "customer" | "virtual_account";
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of credits. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of credits. */
                        data: components["schemas"]["InboundCreditPage"];
                    };
                };
            };
        };
    };
    findCredit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credit's id. The ledger has it as `reference`. */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credit. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The credit. */
                        data: components["schemas"]["InboundCredit"];
                    };
                };
            };
        };
    };
    findStatement: {
        parameters: {
            query: {
                /** @description The settlement account. */
                settlementId: number;
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
                /** @description The format of the statement. */
                format?: "json" | "csv" | "xlsx" | "pdf";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statement. Formats other than JSON are sent as files. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The statement. */
                        data: components["schemas"]["Statement"];
                    };
                    "text/csv": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "application/pdf": string;
                };
            };
        };
    };
    listDailyTotals: {
        parameters: {
            query: {
                /** @description The settlement account. */
                settlementId: number;
                /**
                 * @description The first day, in Lagos (UTC+1).
                 * @example 2030-01-01
                 */
                from: string;
                /**
                 * @description The last day, in Lagos (UTC+1).
                 * @example 2030-01-31
                 */
                to: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The totals. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The totals of the period and of its days. */
                        data: components["schemas"]["DailyTotals"];
                    };
                };
            };
        };
    };
    generateCard: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "customerId": "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e",
                 *       "type": "virtual",
                 *       "brand": "Verve",
                 *       "currency": "NGN",
                 *       "amount": 5000,
                 *       "sendPINSMS": true
                 *     }
                 */
                "application/json": components["schemas"]["CardRequest"];
            };
        };
        responses: {
            /** @description The card. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The new card. */
                        data: components["schemas"]["GeneratedCard"];
                    };
                };
            };
        };
    };
    generateCardToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `cardId` from card generation. */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The token. */
                        data: components["schemas"]["CardToken"];
                    };
                };
            };
        };
    };
    listCards: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only this customer's cards. */
                customerId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of cards. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of cards. */
                        data: components["schemas"]["CardPage"];
                    };
                };
            };
        };
    };
    findCard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `cardId` from card generation. */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The card. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The card in its state at the issuer. */
                        data: components["schemas"]["Card"];
                    };
                };
            };
        };
    };
    sendDefaultPin: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The `cardId` from card generation. */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message of the issuer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                    };
                };
            };
        };
    };
    fundCard: {
        parameters: {
            query?: {
                /**
                 * @description With `true` nothing is written and no provider is asked: the answer says what would happen. An `Idempotency-Key` is not used up
                 *     and gives no stored answer. The only values are `true` and `false`. Operations without a dry run refuse the parameter.
                 */
                dry_run?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cardId": "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e",
                 *       "amount": 5000,
                 *       "externalReference": "order-2417",
                 *       "metadata": {
                 *         "branch": "Ikeja"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CardFundingOrder"];
            };
        };
        responses: {
            /** @description Funded, or the preview of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result of the funding, in words. */
                        message: string;
                        /** @description The reference of the funding, or its preview. */
                        data: components["schemas"]["CardReference"] | components["schemas"]["PayoutPreview"];
                    };
                };
            };
        };
    };
    findCardTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `data.reference` of the funding. */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The funding. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The funding in its present state. */
                        data: components["schemas"]["CardFunding"];
                    };
                };
            };
        };
    };
    freezeCard: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The `cardId` from card generation. */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "reported lost"
                 *     }
                 */
                "application/json": components["schemas"]["CardStatusReason"];
            };
        };
        responses: {
            /** @description The frozen card. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The card in its new state. */
                        data: components["schemas"]["Card"];
                    };
                };
            };
        };
    };
    unfreezeCard: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The `cardId` from card generation. */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "reported lost"
                 *     }
                 */
                "application/json": components["schemas"]["CardStatusReason"];
            };
        };
        responses: {
            /** @description The active card. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The card in its new state. */
                        data: components["schemas"]["Card"];
                    };
                };
            };
        };
    };
    terminateCard: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The `cardId` from card generation. */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "lost"
                 *     }
                 */
                "application/json": components["schemas"]["CardTermination"];
            };
        };
        responses: {
            /** @description The terminated card. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The result, in words. */
                        message: string;
                        /** @description The card in its new state. */
                        data: components["schemas"]["Card"];
                    };
                };
            };
        };
    };
    listCardTransactions: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
            };
            header?: never;
            path: {
                /** @description The `cardId` from card generation. */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the uses. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of the uses. */
                        data: components["schemas"]["CardActivityPage"];
                    };
                };
            };
        };
    };
    listServices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The services. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `true`. */
                        success: components["schemas"]["Succeeded"];
                        /** @description The active services. */
                        data: components["schemas"]["Service"][];
                    };
                };
            };
        };
    };
    listServiceCategories: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A `serviceId` from the list of services. */
                serviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The categories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `true`. */
                        success: components["schemas"]["Succeeded"];
                        /** @description The active categories of the service. */
                        data: components["schemas"]["Category"][];
                    };
                };
            };
        };
    };
    listCategoryProducts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A `serviceCategoryId` from the list of categories. */
                serviceCategoryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The products. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `true`. */
                        success: components["schemas"]["Succeeded"];
                        /** @description The products of the category. */
                        data: components["schemas"]["Product"][];
                    };
                };
            };
        };
    };
    purchaseData: {
        parameters: {
            query?: {
                /**
                 * @description With `true` nothing is written and no provider is asked: the answer says what would happen. An `Idempotency-Key` is not used up
                 *     and gives no stored answer. The only values are `true` and `false`. Operations without a dry run refuse the parameter.
                 */
                dry_run?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "idempotencyKey": "order-2417",
                 *       "serviceCategoryId": "0199c1f2-7b1e-7c0a-9d3e-000000000001",
                 *       "productId": "0199c1f2-7b1e-7c0a-9d3e-000000000002",
                 *       "phoneNumber": "08012345678",
                 *       "settlementId": 1,
                 *       "externalReference": "order-2417",
                 *       "metadata": {
                 *         "branch": "Ikeja"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["DataPurchase"];
            };
        };
        responses: {
            /** @description Delivered, being confirmed, or bought before with this key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurchaseAnswer"];
                };
            };
        };
    };
    verifyEntity: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "serviceCategoryId": "0199c1f2-7b1e-7c0a-9d3e-000000000007",
                 *       "entityNumber": "7012345678"
                 *     }
                 */
                "application/json": components["schemas"]["EntityQuery"];
            };
        };
        responses: {
            /** @description The owner. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `true`. */
                        success: components["schemas"]["Succeeded"];
                        /** @description The verification, which one purchase may use. */
                        data: components["schemas"]["EntityVerification"];
                    };
                };
            };
        };
    };
    purchaseCableTV: {
        parameters: {
            query?: {
                /**
                 * @description With `true` nothing is written and no provider is asked: the answer says what would happen. An `Idempotency-Key` is not used up
                 *     and gives no stored answer. The only values are `true` and `false`. Operations without a dry run refuse the parameter.
                 */
                dry_run?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "idempotencyKey": "order-2418",
                 *       "meterVerificationId": "0199c1f2-7b1e-7c0a-9d3e-000000000003",
                 *       "productId": "0199c1f2-7b1e-7c0a-9d3e-000000000004",
                 *       "cardNumber": "7012345678",
                 *       "settlementId": 1,
                 *       "externalReference": "order-2417",
                 *       "metadata": {
                 *         "branch": "Ikeja"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CableTVPurchase"];
            };
        };
        responses: {
            /** @description Delivered, being confirmed, or bought before with this key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurchaseAnswer"];
                };
            };
        };
    };
    purchaseAirtime: {
        parameters: {
            query?: {
                /**
                 * @description With `true` nothing is written and no provider is asked: the answer says what would happen. An `Idempotency-Key` is not used up
                 *     and gives no stored answer. The only values are `true` and `false`. Operations without a dry run refuse the parameter.
                 */
                dry_run?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "idempotencyKey": "order-2419",
                 *       "serviceCategoryId": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *       "phoneNumber": "08012345678",
                 *       "amount": 200.5,
                 *       "settlementId": 1,
                 *       "externalReference": "order-2417",
                 *       "metadata": {
                 *         "branch": "Ikeja"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AirtimePurchase"];
            };
        };
        responses: {
            /** @description Delivered, being confirmed, or bought before with this key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurchaseAnswer"];
                };
            };
        };
    };
    purchaseUtility: {
        parameters: {
            query?: {
                /**
                 * @description With `true` nothing is written and no provider is asked: the answer says what would happen. An `Idempotency-Key` is not used up
                 *     and gives no stored answer. The only values are `true` and `false`. Operations without a dry run refuse the parameter.
                 */
                dry_run?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "idempotencyKey": "order-2420",
                 *       "meterVerificationId": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *       "amount": 2000,
                 *       "settlementId": 1,
                 *       "externalReference": "order-2417",
                 *       "metadata": {
                 *         "branch": "Ikeja"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["UtilityPurchase"];
            };
        };
        responses: {
            /** @description Delivered, being confirmed, or bought before with this key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UtilityPurchaseAnswer"];
                };
            };
        };
    };
    listVtuTransactions: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only purchases of this type. */
                type?: "AIRTIME" | "DATA" | "CABLE_TV" | "UTILITY";
                /** @description Only purchases in this state. */
                status?: "PENDING" | "SUCCESS" | "FAILED" | "REVERSED";
                /** @description Only purchases paid from this settlement account. */
                settlementId?: number;
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of purchases. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `true`. */
                        success: components["schemas"]["Succeeded"];
                        /** @description One page of purchases. */
                        data: components["schemas"]["VtuTransactionPage"];
                    };
                };
            };
        };
    };
    findVtuTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The purchase's `transactionId`, or your own `idempotencyKey`. */
                transactionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The purchase. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `true`. */
                        success: components["schemas"]["Succeeded"];
                        /** @description The purchase in its present state. */
                        data: components["schemas"]["VtuTransaction"];
                    };
                };
            };
        };
    };
    listCryptoNetworks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The networks. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The networks. */
                        data: components["schemas"]["CryptoNetwork"][];
                    };
                };
            };
        };
    };
    generateCryptoAddress: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description An `id` from the list of networks.
                 * @example ethereum-mainnet
                 */
                networkId: components["parameters"]["CryptoNetworkId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "label": "customer 2417"
                 *     }
                 */
                "application/json": components["schemas"]["CryptoAddressRequest"];
            };
        };
        responses: {
            /** @description The address. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The new address. */
                        data: components["schemas"]["CryptoAddress"];
                    };
                };
            };
        };
    };
    listCryptoAddresses: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description An `id` from the list of networks.
                 * @example ethereum-mainnet
                 */
                networkId: components["parameters"]["CryptoNetworkId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The addresses, perhaps an empty list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The addresses, in a field that is called `address`. */
                        data: components["schemas"]["CryptoAddressList"];
                    };
                };
            };
        };
    };
    findLastCryptoTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The most recent transaction, and how many there are. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The most recent transaction. */
                        data: components["schemas"]["CryptoLatest"];
                    };
                };
            };
        };
    };
    listCryptoTransactions: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only transactions of this type. */
                type?: "deposit" | "withdrawal";
                /** @description Only transactions in this state. */
                status?: "pending" | "completed" | "failed";
                /** @description Only transactions on this network. */
                networkId?: string;
                /** @description Only transactions of this asset, by its symbol. */
                asset?: string;
                /** @description Only this transaction of the chain, by its hash. */
                hash?: string;
                /** @description Only transactions of this address of yours, spelled as it was generated. */
                address?: string;
                /**
                 * @description From this instant on, or from the beginning of this day (in Lagos, UTC+1).
                 * @example 2030-01-02
                 */
                from?: components["parameters"]["From"];
                /**
                 * @description Up to this instant, which is included, or to the end of this day (in Lagos, UTC+1).
                 * @example 2030-01-02T12:00:00Z
                 */
                to?: components["parameters"]["To"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of transactions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of transactions. */
                        data: components["schemas"]["CryptoTransactionPage"];
                    };
                };
            };
        };
    };
    listOutcomes: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /**
                 * @description Only the unresolved operations with these references. At most 100, with commas between them.
                 * @example 0199c1f2-7b1e-7c0a-9d3e-000000000021,0199c1f2-7b1e-7c0a-9d3e-000000000022
                 */
                references?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of unresolved operations. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of unresolved operations. */
                        data: components["schemas"]["OutcomePage"];
                    };
                };
            };
        };
    };
    findOutcome: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The operation's reference; for a purchase its `transactionId`. */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The operation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The operation and its known outcome. */
                        data: components["schemas"]["Outcome"];
                    };
                };
            };
        };
    };
    findTimeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The reference or id of the payment; for a purchase its `transactionId`. */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment and its steps. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The payment and its steps. */
                        data: components["schemas"]["Timeline"];
                    };
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Only events with a larger sequence. Only a whole number is valid, so that an error never starts the feed from the beginning. */
                after?: number;
                /** @description The most events in the answer. A number above 1000 means 1000. Zero, a negative number or a text means the default. */
                limit?: number;
                /** @description The most seconds to wait for an event. A number above 30 means 30. A negative number or a text means 0. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The next events, perhaps none. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The next events. */
                        data: components["schemas"]["EventFeed"];
                    };
                };
            };
        };
    };
    findEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The event's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The event. */
                        data: components["schemas"]["Event"];
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoints. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description All your webhooks. */
                        data: components["schemas"]["Webhook"][];
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://example.com/hooks/kobo",
                 *       "description": "Orders",
                 *       "events": [
                 *         "vtu.success",
                 *         "vtu.failed"
                 *       ],
                 *       "active": true
                 *     }
                 */
                "application/json": components["schemas"]["WebhookRequest"];
            };
        };
        responses: {
            /** @description The endpoint with its secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The new webhook, with its secret. */
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    findWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The webhook. */
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The webhook's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://example.com/hooks/kobo",
                 *       "description": "Orders",
                 *       "events": [],
                 *       "active": false
                 *     }
                 */
                "application/json": components["schemas"]["WebhookUpdate"];
            };
        };
        responses: {
            /** @description The endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The webhook in its present state. */
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /**
                         * @description The result, in words.
                         * @example Webhook deleted
                         */
                        message: string;
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The webhook's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint with its new secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The webhook, with its new secret. */
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The webhook's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint's answer. `DELIVERED` if the endpoint accepted the message. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The delivery of the test event. */
                        data: components["schemas"]["WebhookDelivery"];
                    };
                };
            };
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The webhook's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": 1200,
                 *       "to": 1350
                 *     }
                 */
                "application/json": components["schemas"]["WebhookReplayRequest"];
            };
        };
        responses: {
            /** @description The range of the replay, by sequence numbers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The replay, which has begun. */
                        data: components["schemas"]["WebhookReplay"];
                    };
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
                /** @description Only deliveries in this state. */
                status?: "PENDING" | "DELIVERED" | "FAILED";
            };
            header?: never;
            path: {
                /** @description The webhook's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of deliveries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of deliveries. */
                        data: components["schemas"]["WebhookDeliveryPage"];
                    };
                };
            };
        };
    };
    findWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook's `id`. */
                id: string;
                /** @description The delivery's `id`. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery and its attempts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The delivery. */
                        data: components["schemas"]["WebhookDelivery"];
                    };
                };
            };
        };
    };
    resendWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Optional; 1 to 255 printable ASCII characters. The same key with the same body gives the first answer again, byte for byte, with
                 *     `Idempotent-Replayed: true`. With another body or another path the answer is 422. While the first request is running it is 409. A
                 *     key is unique in your company over all paths, and is stored as long as the operation. It may differ from a key in the body, which
                 *     has a meaning of its own.
                 *
                 *     The answer is stored for 13 months, and the key for ever. Later the same request is still not executed again. A payment, a purchase,
                 *     a card funding and a crypto address are answered from their present state. Any other request is a 422 with the day of its first use.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The delivery's `id`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The new delivery of the same event. */
                        data: components["schemas"]["WebhookDelivery"];
                    };
                };
            };
        };
    };
    findIdempotencyKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key, as it was sent. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The use of the key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The use of the key. */
                        data: components["schemas"]["IdempotencyUse"];
                    };
                };
            };
        };
    };
    checkIntegrity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result of the check. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The recomputed balances, beside the stored ones. */
                        data: components["schemas"]["Integrity"];
                    };
                };
            };
        };
    };
    listCheckpoints: {
        parameters: {
            query?: {
                /** @description The number of the page. Zero, a negative number or a text means the first page. */
                page?: components["parameters"]["Page"];
                /** @description The size of a page. A number above 100 means 100. Zero, a negative number or a text means the default. */
                pageSize?: components["parameters"]["PageSize"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of checkpoints. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description One page of checkpoints. */
                        data: components["schemas"]["CheckpointPage"];
                    };
                };
            };
        };
    };
    findCheckpointKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The keys. */
                        data: components["schemas"]["CheckpointKey"];
                    };
                };
            };
        };
    };
    proveConsistency: {
        parameters: {
            query: {
                /** @description The size of the earlier checkpoint. */
                from: number;
                /** @description The size of the later checkpoint. Without it, the last one. */
                to?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The proof. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The proof. */
                        data: components["schemas"]["ConsistencyProof"];
                    };
                };
            };
        };
    };
    findReceipt: {
        parameters: {
            query?: {
                /** @description The step of the operation: empty for the first transfer, `settle`, `refund` or `reverse`. */
                step?: string;
            };
            header?: never;
            path: {
                /** @description The reference of an operation, or the `id` of an event. */
                reference: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receipt. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `success`. */
                        status: components["schemas"]["SuccessStatus"];
                        /** @description The receipt. */
                        data: components["schemas"]["Receipt"];
                    };
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "environment": "live"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always `ok`.
                         * @constant
                         */
                        status: "ok";
                        /**
                         * @description `live` moves real money. `staging` uses the test systems of the providers. `dev` simulates the providers.
                         * @enum {string}
                         */
                        environment: "dev" | "staging" | "live";
                    };
                };
            };
        };
    };
    readiness: {
        parameters: {
            query?: {
                /**
                 * @description `companies` also checks that API access is open. Other values change nothing.
                 * @example companies
                 */
                for?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The program is ready. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "database": "ok",
                     *       "environment": "live",
                     *       "migrations": "ok",
                     *       "status": "ready",
                     *       "workers": "ok",
                     *       "writes": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metrics. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    document: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This document as JSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    reference: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page that shows this document and lets you try it. It works without the internet. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    toldKybChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000100",
                 *       "sequence": 100,
                 *       "event": "kyb.changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "kybStatus": "APPROVED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `kyb.changed`.
                     * @constant
                     */
                    event?: "kyb.changed";
                    /** @description The new state of your verification. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /**
                         * @description The new state.
                         * @enum {string}
                         */
                        kybStatus: "NOT_STARTED" | "IN_PROGRESS" | "SUBMITTED" | "CHANGES_REQUESTED" | "REJECTED" | "APPROVED";
                        /** @description The reason that the operator gave. */
                        reason?: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldApiKeyIssued: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000140",
                 *       "sequence": 140,
                 *       "event": "company.api_key_issued",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000201",
                 *         "expiresAt": null,
                 *         "by": "operator",
                 *         "otherKeys": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.api_key_issued`.
                     * @constant
                     */
                    event?: "company.api_key_issued";
                    /** @description The key without its text. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description The key's id, which operators see too. */
                        id: string;
                        /** @description Your own name for the key, if you gave one. */
                        name?: string;
                        /** @description The end of the key; `null` for never. */
                        expiresAt: string | null;
                        /**
                         * @description Who did it; `company` is a request with your own access.
                         * @enum {string}
                         */
                        by: "operator" | "company";
                        /** @description How many other API keys of your company work now. */
                        otherKeys: number;
                        /** @description The network address of the request, if `by` is `company`. */
                        sourceAddress?: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldApiKeyRevoked: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000141",
                 *       "sequence": 141,
                 *       "event": "company.api_key_revoked",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000201",
                 *         "by": "operator"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.api_key_revoked`.
                     * @constant
                     */
                    event?: "company.api_key_revoked";
                    /** @description The key without its text. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description The key's id, which operators see too. */
                        id: string;
                        /**
                         * @description Who did it; `company` is a request with your own access.
                         * @enum {string}
                         */
                        by: "operator" | "company";
                        /** @description The network address of the request, if `by` is `company`. */
                        sourceAddress?: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldKeyTokenIssued: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000142",
                 *       "sequence": 142,
                 *       "event": "company.key_token_issued",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "expiresAt": "2030-01-03T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.key_token_issued`.
                     * @constant
                     */
                    event?: "company.key_token_issued";
                    /** @description The token without its text. Earlier unused key tokens do not work any more. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description The end of the token. */
                        expiresAt: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPinTokenIssued: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000143",
                 *       "sequence": 143,
                 *       "event": "company.pin_token_issued",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "expiresAt": "2030-01-03T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.pin_token_issued`.
                     * @constant
                     */
                    event?: "company.pin_token_issued";
                    /** @description The token without its text. Earlier unused PIN tokens do not work any more. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description The end of the token. */
                        expiresAt: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPinChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000144",
                 *       "sequence": 144,
                 *       "event": "company.pin_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "by": "company"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.pin_changed`.
                     * @constant
                     */
                    event?: "company.pin_changed";
                    /** @description The author of the change. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /**
                         * @description Who did it; `company` is a request with your own access.
                         * @enum {string}
                         */
                        by: "operator" | "company";
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPinLocked: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000145",
                 *       "sequence": 145,
                 *       "event": "company.pin_locked",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "tries": 5
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.pin_locked`.
                     * @constant
                     */
                    event?: "company.pin_locked";
                    /** @description The wrong tries. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description The number of wrong tries in a row. */
                        tries: number;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPinUnlocked: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000146",
                 *       "sequence": 146,
                 *       "event": "company.pin_unlocked",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "by": "operator"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.pin_unlocked`.
                     * @constant
                     */
                    event?: "company.pin_unlocked";
                    /** @description The author of the change. The PIN is what it was. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /**
                         * @description Who did it; `company` is a request with your own access.
                         * @enum {string}
                         */
                        by: "operator" | "company";
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldLiveChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000147",
                 *       "sequence": 147,
                 *       "event": "company.live_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "live": true,
                 *         "apiKeys": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.live_changed`.
                     * @constant
                     */
                    event?: "company.live_changed";
                    /** @description The new state. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description Whether your company may use the API. The verification must allow it too. */
                        live: boolean;
                        /** @description How many API keys of your company work now. */
                        apiKeys: number;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldLimitsChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000148",
                 *       "sequence": 148,
                 *       "event": "company.limits_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "limit": "payout",
                 *         "per": "day",
                 *         "settlementId": null,
                 *         "amount": 5000000,
                 *         "count": 200
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.limits_changed`.
                     * @constant
                     */
                    event?: "company.limits_changed";
                    /** @description The limit that holds from now on. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /**
                         * @description What is limited.
                         * @enum {string}
                         */
                        limit: "payout" | "otp" | "settlement-account" | "crypto-address" | "virtual-account" | "requests";
                        /**
                         * @description The time for which the limit holds; a day is a day in Lagos.
                         * @enum {string}
                         */
                        per: "day" | "second";
                        /** @description The settlement account of a payout limit; `null` for your whole company. */
                        settlementId: number | null;
                        /** @description The sum of payouts in naira; `null` for no limit of the sum. */
                        amount: Kobo | null;
                        /** @description The number; `null` for no limit of the number, or for the usual limit of requests. */
                        count: number | null;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldFeesChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000149",
                 *       "sequence": 149,
                 *       "event": "company.fees_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "bands": [
                 *           {
                 *             "from": 0,
                 *             "flat": 10,
                 *             "percent": 0,
                 *             "cap": 0
                 *           },
                 *           {
                 *             "from": 5000,
                 *             "flat": 25,
                 *             "percent": 0.1,
                 *             "cap": 2000
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.fees_changed`.
                     * @constant
                     */
                    event?: "company.fees_changed";
                    /** @description The fee schedule that holds from now on. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description The bands by the amount of a payout, from 0 up; empty for no fees. */
                        bands: {
                            /** @description The amount in naira from which the band holds. */
                            from: Kobo;
                            /** @description The flat part of the fee in naira. */
                            flat: Kobo;
                            /** @description The part of the amount. */
                            percent: number;
                            /** @description The highest fee in naira; 0 for no cap. */
                            cap: Kobo;
                        }[];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldSettlementBankAccountAttached: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000150",
                 *       "sequence": 150,
                 *       "event": "settlement.bank_account_attached",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "settlementId": 1,
                 *         "accountNumber": "8000000022",
                 *         "accountName": "EXAMPLE SALES",
                 *         "bankName": "Safe Haven MFB",
                 *         "bankCode": "090286"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `settlement.bank_account_attached`.
                     * @constant
                     */
                    event?: "settlement.bank_account_attached";
                    /** @description Payments into this bank account are credited to the settlement account from now on. */
                    data?: {
                        /** @description The settlement account. */
                        settlementId: number;
                        /** @description The number of the bank account. */
                        accountNumber: string;
                        /** @description The name on the bank account. */
                        accountName: string;
                        /** @description The bank. */
                        bankName: string;
                        /** @description The bank's code. */
                        bankCode: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldSettlementStatusChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000151",
                 *       "sequence": 151,
                 *       "event": "settlement.status_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "settlementId": 1,
                 *         "status": "INACTIVE",
                 *         "reason": "asked for by phone"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `settlement.status_changed`.
                     * @constant
                     */
                    event?: "settlement.status_changed";
                    /** @description The status from now on. */
                    data?: {
                        /** @description The settlement account. */
                        settlementId: number;
                        /**
                         * @description `INACTIVE`: the account pays nothing new.
                         * @enum {string}
                         */
                        status: "ACTIVE" | "INACTIVE";
                        /** @description The reason that the operator gave, or why Kobo closed or opened the account. */
                        reason: string | null;
                        /**
                         * @description Only if Kobo has closed the account to debits (`true`), or two operators have opened it again (`false`). Kobo closes an
                         *     account whose rows in the ledger do not verify. The account then pays nothing new, credits and refunds arrive, and `status`
                         *     stays as it was.
                         */
                        closedToDebits?: boolean;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldSettlementAdjusted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000152",
                 *       "sequence": 152,
                 *       "event": "settlement.adjusted",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000009",
                 *         "settlementId": 1,
                 *         "amount": 1500,
                 *         "direction": "credit",
                 *         "reason": "a fee was charged twice"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `settlement.adjusted`.
                     * @constant
                     */
                    event?: "settlement.adjusted";
                    /** @description The adjustment. The statement shows its transfer. */
                    data?: {
                        /** @description The reference of the transfer in the statement. */
                        id: string;
                        /** @description The settlement account. */
                        settlementId: number;
                        /** @description The amount in naira. */
                        amount: Kobo;
                        /**
                         * @description `credit`: the balance rose. `debit`: it fell.
                         * @enum {string}
                         */
                        direction: "credit" | "debit";
                        /** @description The reason that the operators gave. */
                        reason: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldSettlementAccountCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000153",
                 *       "sequence": 153,
                 *       "event": "settlement.account_created",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": 2,
                 *         "name": "Sales",
                 *         "accountNumber": null,
                 *         "accountName": null,
                 *         "bankName": null,
                 *         "balance": 0,
                 *         "currency": {
                 *           "name": "NGN"
                 *         },
                 *         "isDefault": false,
                 *         "status": "ACTIVE",
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "lowBalance": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `settlement.account_created`.
                     * @constant
                     */
                    event?: "settlement.account_created";
                    /** @description The new settlement account, as the list shows it. */
                    data?: components["schemas"]["SettlementAccount"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldSettlementAlertChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000154",
                 *       "sequence": 154,
                 *       "event": "settlement.alert_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "settlementId": 2,
                 *         "lowBalance": 50000
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `settlement.alert_changed`.
                     * @constant
                     */
                    event?: "settlement.alert_changed";
                    /** @description The alert from now on. */
                    data?: {
                        /** @description The settlement account. */
                        settlementId: number;
                        /** @description The threshold of the low-balance alert, in naira; `null` for no alert. */
                        lowBalance: Kobo | null;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardAddressChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000155",
                 *       "sequence": 155,
                 *       "event": "card.address_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "address": {
                 *           "line1": "1 Marina Road",
                 *           "city": "Lagos",
                 *           "state": "Lagos"
                 *         },
                 *         "source": "company",
                 *         "since": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.address_changed`.
                     * @constant
                     */
                    event?: "card.address_changed";
                    /** @description The address of new cards for customers without an address. */
                    data?: {
                        /** @description The address. */
                        address: {
                            /** @description The street and the number. */
                            line1: string;
                            /** @description More of the street. */
                            line2?: string;
                            /** @description The city. */
                            city: string;
                            /** @description The state. */
                            state: string;
                            /** @description The country. */
                            country?: string;
                            /** @description The postal code. */
                            postalCode?: string;
                        };
                        /**
                         * @description Always `company`: the address is for your company alone.
                         * @enum {string}
                         */
                        source: "company";
                        /** @description When the operator set it. */
                        since: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCryptoKeyChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000156",
                 *       "sequence": 156,
                 *       "event": "crypto.key_changed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "chain": "evm",
                 *         "version": 2,
                 *         "source": "operator",
                 *         "firstAddress": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *         "createdAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `crypto.key_changed`.
                     * @constant
                     */
                    event?: "crypto.key_changed";
                    /** @description The key, without the key itself. Earlier addresses stay yours. */
                    data?: {
                        /**
                         * @description The kind of network.
                         * @enum {string}
                         */
                        chain: "evm" | "tron" | "bitcoin";
                        /** @description Counts the keys of this kind of network. */
                        version: number;
                        /**
                         * @description Always `operator`.
                         * @enum {string}
                         */
                        source: "operator";
                        /** @description The first address of the key. Compare it with the first address in your wallet. */
                        firstAddress: string;
                        /** @description When the operator set it. */
                        createdAt: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldVtuPending: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000101",
                 *       "sequence": 101,
                 *       "event": "vtu.pending",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "transactionId": "0199c1f2-7b1e-7c0a-9d3e-000000000003",
                 *         "status": "PENDING",
                 *         "type": "DATA",
                 *         "amount": "500.00",
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "fee": "0.00",
                 *         "idempotencyKey": "order-2417",
                 *         "settlementId": 1,
                 *         "serviceCategoryId": "0199c1f2-7b1e-7c0a-9d3e-000000000001",
                 *         "productId": "0199c1f2-7b1e-7c0a-9d3e-000000000002",
                 *         "productName": "1 GB monthly",
                 *         "phoneNumber": "08012345678",
                 *         "cardNumber": null,
                 *         "providerReference": null,
                 *         "message": null,
                 *         "refunded": false,
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "meterNumber": null,
                 *         "token": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `vtu.pending`.
                     * @constant
                     */
                    event?: "vtu.pending";
                    /** @description The purchase, as the GET operation shows it. */
                    data?: components["schemas"]["VtuTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldVtuSuccess: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000102",
                 *       "sequence": 102,
                 *       "event": "vtu.success",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "transactionId": "0199c1f2-7b1e-7c0a-9d3e-000000000003",
                 *         "status": "SUCCESS",
                 *         "type": "DATA",
                 *         "amount": "500.00",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "fee": "0.00",
                 *         "idempotencyKey": "order-2417",
                 *         "settlementId": 1,
                 *         "serviceCategoryId": "0199c1f2-7b1e-7c0a-9d3e-000000000001",
                 *         "productId": "0199c1f2-7b1e-7c0a-9d3e-000000000002",
                 *         "productName": "1 GB monthly",
                 *         "phoneNumber": "08012345678",
                 *         "cardNumber": null,
                 *         "providerReference": "3a9ca166f3a839e62a7cac93",
                 *         "message": "Data Bundle purchased successfully.",
                 *         "refunded": false,
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "meterNumber": null,
                 *         "token": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `vtu.success`.
                     * @constant
                     */
                    event?: "vtu.success";
                    /** @description The purchase, as the GET operation shows it. */
                    data?: components["schemas"]["VtuTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldVtuFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000103",
                 *       "sequence": 103,
                 *       "event": "vtu.failed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "transactionId": "0199c1f2-7b1e-7c0a-9d3e-000000000003",
                 *         "status": "FAILED",
                 *         "type": "DATA",
                 *         "amount": "500.00",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "fee": "0.00",
                 *         "idempotencyKey": "order-2417",
                 *         "settlementId": 1,
                 *         "serviceCategoryId": "0199c1f2-7b1e-7c0a-9d3e-000000000001",
                 *         "productId": "0199c1f2-7b1e-7c0a-9d3e-000000000002",
                 *         "productName": "1 GB monthly",
                 *         "phoneNumber": "08012345678",
                 *         "cardNumber": null,
                 *         "providerReference": null,
                 *         "message": "The vendor refused this purchase",
                 *         "refunded": true,
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "meterNumber": null,
                 *         "token": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `vtu.failed`.
                     * @constant
                     */
                    event?: "vtu.failed";
                    /** @description The purchase, as the GET operation shows it. */
                    data?: components["schemas"]["VtuTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldVtuReversed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000160",
                 *       "sequence": 160,
                 *       "event": "vtu.reversed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "transactionId": "0199c1f2-7b1e-7c0a-9d3e-000000000003",
                 *         "status": "REVERSED",
                 *         "type": "UTILITY",
                 *         "amount": "2000.00",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "fee": "0.00",
                 *         "idempotencyKey": "order-2420",
                 *         "settlementId": 1,
                 *         "serviceCategoryId": "0199c1f2-7b1e-7c0a-9d3e-000000000001",
                 *         "productId": null,
                 *         "productName": null,
                 *         "phoneNumber": null,
                 *         "cardNumber": null,
                 *         "providerReference": "17622706472916302778",
                 *         "message": "Settled by an operator",
                 *         "refunded": true,
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "meterNumber": "45012345610",
                 *         "token": "26362054405982757802"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `vtu.reversed`.
                     * @constant
                     */
                    event?: "vtu.reversed";
                    /** @description The purchase, as the GET operation shows it. */
                    data?: components["schemas"]["VtuTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldSettlementCredit: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000104",
                 *       "sequence": 104,
                 *       "event": "settlement.credit",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000009",
                 *         "settlementId": 1,
                 *         "amount": 5000,
                 *         "accountNumber": "8000000012",
                 *         "senderName": "BOLA SAMPLE",
                 *         "senderBank": "000013",
                 *         "senderAccount": "0123456789",
                 *         "narration": "Invoice 2417",
                 *         "sessionId": "000013300102030405123456789012",
                 *         "createdAt": "2030-01-02T03:04:05.123Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `settlement.credit`.
                     * @constant
                     */
                    event?: "settlement.credit";
                    /** @description The credit. */
                    data?: {
                        /** @description The credit's id. */
                        id: string;
                        /**
                         * Format: int64
                         * @description The settlement account that was credited.
                         */
                        settlementId: number;
                        /** @description Naira. */
                        amount: Kobo;
                        /** @description Empty, as is senderName, for a credit that was found on the bank's statement. */
                        accountNumber: string;
                        /** @description The name of the payer, from the bank. */
                        senderName: string;
                        /**
                         * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
                         * @example 000013
                         */
                        senderBank?: string;
                        /**
                         * @description The account number of the payer, if the bank gave it.
                         * @example 0123456789
                         */
                        senderAccount?: string;
                        /** @description The narration of the sender. */
                        narration: string;
                        /** @description The bank's. */
                        sessionId: string;
                        /** @description When it was credited here. */
                        createdAt: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldSettlementLowBalance: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000105",
                 *       "sequence": 105,
                 *       "event": "settlement.low_balance",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": 1,
                 *         "name": "Main",
                 *         "accountNumber": "8000000012",
                 *         "accountName": "Example Limited",
                 *         "bankName": "Safe Haven MFB",
                 *         "balance": 48500,
                 *         "currency": {
                 *           "name": "NGN"
                 *         },
                 *         "isDefault": true,
                 *         "status": "ACTIVE",
                 *         "createdAt": "2030-01-01T09:00:00.000Z",
                 *         "lowBalance": 50000
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `settlement.low_balance`.
                     * @constant
                     */
                    event?: "settlement.low_balance";
                    /** @description The settlement account, as the list shows it. */
                    data?: components["schemas"]["SettlementAccount"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCheckpointSigned: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000129",
                 *       "sequence": 129,
                 *       "event": "checkpoint.signed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "size": 512,
                 *         "root": "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "checkpoint": "kobo/0199c1f2-7b1e-7c0a-9d3e-000000000001/c3v7k2m9x4\n512\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n2030-01-02T03:04:05.678Z\n\n— kobo/0199c1f2-7b1e-7c0a-9d3e-000000000001 NGh0…\n"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `checkpoint.signed`.
                     * @constant
                     */
                    event?: "checkpoint.signed";
                    /** @description The checkpoint, as the list shows it. */
                    data?: components["schemas"]["Checkpoint"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCompanyRenewalDue: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000161",
                 *       "sequence": 161,
                 *       "event": "company.renewal_due",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "companyId": "c3v7k2m9x4",
                 *         "apiKeyIds": [
                 *           "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e"
                 *         ],
                 *         "isPinUnused": true,
                 *         "revokedAt": "2030-01-09T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `company.renewal_due`.
                     * @constant
                     */
                    event?: "company.renewal_due";
                    /** @description What is revoked. */
                    data?: {
                        /** @description Your company's reference. */
                        companyId: string;
                        /** @description The ids of the API keys that were not used. */
                        apiKeyIds: string[];
                        /** @description Whether the PIN was not used. */
                        isPinUnused: boolean;
                        /** @description When they are revoked. */
                        revokedAt: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldWebhookEndpointFailing: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000106",
                 *       "sequence": 106,
                 *       "event": "webhook.endpoint_failing",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000014",
                 *         "url": "https://example.com/hooks/kobo",
                 *         "status": "FAILING",
                 *         "deliveryId": "0199c1f2-7b1e-7c0a-9d3e-000000000015",
                 *         "eventId": "0199c1f2-7b1e-7c0a-9d3e-000000000101",
                 *         "error": "the connection was refused",
                 *         "failingSince": "2029-12-30T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `webhook.endpoint_failing`.
                     * @constant
                     */
                    event?: "webhook.endpoint_failing";
                    /** @description The webhook and the failed delivery. */
                    data?: {
                        /** @description The webhook's. */
                        id: string;
                        /** @description The URL of the endpoint. */
                        url: string;
                        /**
                         * @description Always `FAILING`.
                         * @constant
                         */
                        status: "FAILING";
                        /** @description The failed delivery. */
                        deliveryId: string;
                        /** @description The event that was not delivered. */
                        eventId: string;
                        /** @description The reason why the last attempt failed. */
                        error: string;
                        /** @description The first failed attempt since the last success. */
                        failingSince: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldVirtualAccountSuccess: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000107",
                 *       "sequence": 107,
                 *       "event": "virtual_account.success",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000010",
                 *         "virtual_trx_id": "0199c1f2-7b1e-7c0a-9d3e-000000000010",
                 *         "amount": 2500,
                 *         "expiryDate": "2030-01-02T03:34:05.123Z",
                 *         "bankName": "Safe Haven MFB",
                 *         "accountNumber": "7000000001",
                 *         "externalReference": "invoice-2417",
                 *         "status": "SUCCESS",
                 *         "currency": {
                 *           "name": "NGN"
                 *         },
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "settlementId": 1,
                 *         "paidAmount": 2500,
                 *         "paidAt": "2030-01-02T03:04:05.678Z",
                 *         "sessionId": "000013300102030405123456789012",
                 *         "senderName": "BOLA SAMPLE",
                 *         "senderBank": "000013",
                 *         "senderAccount": "0123456789",
                 *         "narration": "Invoice 2417"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `virtual_account.success`.
                     * @constant
                     */
                    event?: "virtual_account.success";
                    /** @description The collection, as the GET operation shows it, the credited settlement account, and the payment if there was one. */
                    data?: components["schemas"]["VirtualAccountTransaction"] & {
                        /** @description The collection's id. */
                        id: string;
                        /** @description The same as `id`. */
                        virtual_trx_id: string;
                        /**
                         * Format: int64
                         * @description The credited settlement account.
                         */
                        settlementId: number;
                        /** @description The paid amount, in naira. This field and the next ones are there only after a payment. */
                        paidAmount?: Kobo;
                        /** @description The time of the payment at the bank. */
                        paidAt?: components["schemas"]["Instant"];
                        /** @description The session of the bank. */
                        sessionId?: string;
                        /** @description The name of the payer, from the bank. */
                        senderName?: string;
                        /**
                         * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
                         * @example 000013
                         */
                        senderBank?: string;
                        /**
                         * @description The account number of the payer, if the bank gave it.
                         * @example 0123456789
                         */
                        senderAccount?: string;
                        /** @description The narration of the sender. */
                        narration?: string;
                        /**
                         * @description The reason why the payment did not complete the collection.
                         * @enum {string}
                         */
                        reason?: "EXPIRED" | "ALREADY_PAID" | "WRONG_AMOUNT";
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldVirtualAccountFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000108",
                 *       "sequence": 108,
                 *       "event": "virtual_account.failed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000010",
                 *         "virtual_trx_id": "0199c1f2-7b1e-7c0a-9d3e-000000000010",
                 *         "amount": 2500,
                 *         "expiryDate": "2030-01-02T03:00:00.000Z",
                 *         "bankName": "Safe Haven MFB",
                 *         "accountNumber": "7000000001",
                 *         "externalReference": "invoice-2417",
                 *         "status": "FAILED",
                 *         "currency": {
                 *           "name": "NGN"
                 *         },
                 *         "createdAt": "2030-01-02T02:30:00.000Z",
                 *         "settlementId": 1
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `virtual_account.failed`.
                     * @constant
                     */
                    event?: "virtual_account.failed";
                    /** @description The collection, as the GET operation shows it, the credited settlement account, and the payment if there was one. */
                    data?: components["schemas"]["VirtualAccountTransaction"] & {
                        /** @description The collection's id. */
                        id: string;
                        /** @description The same as `id`. */
                        virtual_trx_id: string;
                        /**
                         * Format: int64
                         * @description The credited settlement account.
                         */
                        settlementId: number;
                        /** @description The paid amount, in naira. This field and the next ones are there only after a payment. */
                        paidAmount?: Kobo;
                        /** @description The time of the payment at the bank. */
                        paidAt?: components["schemas"]["Instant"];
                        /** @description The session of the bank. */
                        sessionId?: string;
                        /** @description The name of the payer, from the bank. */
                        senderName?: string;
                        /**
                         * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
                         * @example 000013
                         */
                        senderBank?: string;
                        /**
                         * @description The account number of the payer, if the bank gave it.
                         * @example 0123456789
                         */
                        senderAccount?: string;
                        /** @description The narration of the sender. */
                        narration?: string;
                        /**
                         * @description The reason why the payment did not complete the collection.
                         * @enum {string}
                         */
                        reason?: "EXPIRED" | "ALREADY_PAID" | "WRONG_AMOUNT";
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldVirtualAccountLatePayment: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000109",
                 *       "sequence": 109,
                 *       "event": "virtual_account.late_payment",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000010",
                 *         "virtual_trx_id": "0199c1f2-7b1e-7c0a-9d3e-000000000010",
                 *         "amount": 2500,
                 *         "expiryDate": "2030-01-02T03:00:00.000Z",
                 *         "bankName": "Safe Haven MFB",
                 *         "accountNumber": "7000000001",
                 *         "externalReference": "invoice-2417",
                 *         "status": "FAILED",
                 *         "currency": {
                 *           "name": "NGN"
                 *         },
                 *         "createdAt": "2030-01-02T02:30:00.000Z",
                 *         "settlementId": 1,
                 *         "paidAmount": 2500,
                 *         "paidAt": "2030-01-02T03:04:05.678Z",
                 *         "sessionId": "000013300102030405123456789012",
                 *         "senderName": "BOLA SAMPLE",
                 *         "senderBank": "000013",
                 *         "senderAccount": "0123456789",
                 *         "narration": "Invoice 2417",
                 *         "reason": "EXPIRED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `virtual_account.late_payment`.
                     * @constant
                     */
                    event?: "virtual_account.late_payment";
                    /** @description The collection, as the GET operation shows it, the credited settlement account, and the payment if there was one. */
                    data?: components["schemas"]["VirtualAccountTransaction"] & {
                        /** @description The collection's id. */
                        id: string;
                        /** @description The same as `id`. */
                        virtual_trx_id: string;
                        /**
                         * Format: int64
                         * @description The credited settlement account.
                         */
                        settlementId: number;
                        /** @description The paid amount, in naira. This field and the next ones are there only after a payment. */
                        paidAmount?: Kobo;
                        /** @description The time of the payment at the bank. */
                        paidAt?: components["schemas"]["Instant"];
                        /** @description The session of the bank. */
                        sessionId?: string;
                        /** @description The name of the payer, from the bank. */
                        senderName?: string;
                        /**
                         * @description The code of the payer's bank, if it is known. *List supported banks* has its name.
                         * @example 000013
                         */
                        senderBank?: string;
                        /**
                         * @description The account number of the payer, if the bank gave it.
                         * @example 0123456789
                         */
                        senderAccount?: string;
                        /** @description The narration of the sender. */
                        narration?: string;
                        /**
                         * @description The reason why the payment did not complete the collection.
                         * @enum {string}
                         */
                        reason?: "EXPIRED" | "ALREADY_PAID" | "WRONG_AMOUNT";
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCustomerCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000110",
                 *       "sequence": 110,
                 *       "event": "customer.created",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *         "firstName": "Ada",
                 *         "lastName": "Tester",
                 *         "middleName": null,
                 *         "email": "ada@example.com",
                 *         "phoneNumber": "08012345678",
                 *         "status": "PENDING_OTP",
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "dateOfBirth": "1990-05-17",
                 *         "address": {
                 *           "line1": "1 Marina",
                 *           "city": "Lagos",
                 *           "state": "Lagos"
                 *         },
                 *         "kycStatus": "PENDING",
                 *         "nameMatch": null,
                 *         "bankAccount": null,
                 *         "updatedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `customer.created`.
                     * @constant
                     */
                    event?: "customer.created";
                    /** @description The customer, as the GET operation shows it. */
                    data?: components["schemas"]["Customer"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCustomerAccountGenerated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000111",
                 *       "sequence": 111,
                 *       "event": "customer.account_generated",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *         "firstName": "Ada",
                 *         "lastName": "Tester",
                 *         "middleName": null,
                 *         "email": "ada@example.com",
                 *         "phoneNumber": "08012345678",
                 *         "status": "ACTIVE",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "dateOfBirth": "1990-05-17",
                 *         "address": {
                 *           "line1": "1 Marina",
                 *           "city": "Lagos",
                 *           "state": "Lagos"
                 *         },
                 *         "kycStatus": "VERIFIED",
                 *         "nameMatch": "MATCH",
                 *         "bankAccount": {
                 *           "accountNumber": "8000000012",
                 *           "accountName": "KOBO / ADA TESTER",
                 *           "bankName": "Safe Haven MFB",
                 *           "bankCode": "999240",
                 *           "currency": {
                 *             "name": "NGN"
                 *           },
                 *           "settlementId": 1,
                 *           "createdAt": "2030-01-02T03:04:05.678Z"
                 *         },
                 *         "updatedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `customer.account_generated`.
                     * @constant
                     */
                    event?: "customer.account_generated";
                    /** @description The customer, as the GET operation shows it. */
                    data?: components["schemas"]["Customer"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCustomerErased: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000173",
                 *       "sequence": 173,
                 *       "event": "customer.erased",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "customerId": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *         "erasedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `customer.erased`.
                     * @constant
                     */
                    event?: "customer.erased";
                    /** @description The erased customer. */
                    data?: {
                        /** @description The id of the customer. */
                        customerId: string;
                        /**
                         * Format: date-time
                         * @description When the customer was erased.
                         */
                        erasedAt: string;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldTransactionCredit: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000112",
                 *       "sequence": 112,
                 *       "event": "transaction.credit",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000008",
                 *         "amount": 5000,
                 *         "type": "CREDIT",
                 *         "status": "SUCCESS",
                 *         "fee": null,
                 *         "narration": "Invoice 2417",
                 *         "sessionId": "000013300102030405123456789012",
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "senderName": "BOLA SAMPLE",
                 *         "senderBank": "000013",
                 *         "senderAccount": "0123456789",
                 *         "currency": {
                 *           "name": "NGN"
                 *         },
                 *         "customer": {
                 *           "id": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *           "firstName": "Ada",
                 *           "lastName": "Tester"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `transaction.credit`.
                     * @constant
                     */
                    event?: "transaction.credit";
                    /** @description The transaction, as the list of all transactions shows it. */
                    data?: components["schemas"]["Transaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardGenerated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000113",
                 *       "sequence": 113,
                 *       "event": "card.generated",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *         "type": "virtual",
                 *         "brand": "Verve",
                 *         "currency": "NGN",
                 *         "maskedPan": "506321*********0001",
                 *         "expiryMonth": "08",
                 *         "expiryYear": "2033",
                 *         "status": "active",
                 *         "customerId": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": null,
                 *         "providerCardId": "7f6ef3e89eb9619c44197138"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.generated`.
                     * @constant
                     */
                    event?: "card.generated";
                    /** @description The card, as the GET operation shows it. */
                    data?: components["schemas"]["Card"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardFundingPending: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000114",
                 *       "sequence": 114,
                 *       "event": "card.funding_pending",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "reference": "0199c1f2-7b1e-7c0a-9d3e-000000000007",
                 *         "cardId": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *         "amount": 5000,
                 *         "status": "PENDING",
                 *         "refunded": false,
                 *         "settlementId": 1,
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.funding_pending`.
                     * @constant
                     */
                    event?: "card.funding_pending";
                    /** @description The funding, as the GET operation shows it. */
                    data?: components["schemas"]["CardFunding"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardFunded: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000115",
                 *       "sequence": 115,
                 *       "event": "card.funded",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "reference": "0199c1f2-7b1e-7c0a-9d3e-000000000007",
                 *         "cardId": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *         "amount": 5000,
                 *         "status": "SUCCESS",
                 *         "refunded": false,
                 *         "settlementId": 1,
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.funded`.
                     * @constant
                     */
                    event?: "card.funded";
                    /** @description The funding, as the GET operation shows it. */
                    data?: components["schemas"]["CardFunding"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardFundingFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000116",
                 *       "sequence": 116,
                 *       "event": "card.funding_failed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "reference": "0199c1f2-7b1e-7c0a-9d3e-000000000007",
                 *         "cardId": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *         "amount": 5000,
                 *         "status": "FAILED",
                 *         "refunded": true,
                 *         "settlementId": 1,
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.funding_failed`.
                     * @constant
                     */
                    event?: "card.funding_failed";
                    /** @description The funding, as the GET operation shows it. */
                    data?: components["schemas"]["CardFunding"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardFrozen: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000170",
                 *       "sequence": 170,
                 *       "event": "card.frozen",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *         "type": "virtual",
                 *         "brand": "Verve",
                 *         "currency": "NGN",
                 *         "maskedPan": "506321*********0001",
                 *         "expiryMonth": "08",
                 *         "expiryYear": "2033",
                 *         "status": "inactive",
                 *         "customerId": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "providerCardId": "7f6ef3e89eb9619c44197138"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.frozen`.
                     * @constant
                     */
                    event?: "card.frozen";
                    /** @description The card in its new state. */
                    data?: components["schemas"]["Card"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardUnfrozen: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000171",
                 *       "sequence": 171,
                 *       "event": "card.unfrozen",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *         "type": "virtual",
                 *         "brand": "Verve",
                 *         "currency": "NGN",
                 *         "maskedPan": "506321*********0001",
                 *         "expiryMonth": "08",
                 *         "expiryYear": "2033",
                 *         "status": "active",
                 *         "customerId": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "providerCardId": "7f6ef3e89eb9619c44197138"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.unfrozen`.
                     * @constant
                     */
                    event?: "card.unfrozen";
                    /** @description The card in its new state. */
                    data?: components["schemas"]["Card"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCardTerminated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000172",
                 *       "sequence": 172,
                 *       "event": "card.terminated",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": "0199c1f2-7b1e-7c0a-9d3e-000000000005",
                 *         "type": "virtual",
                 *         "brand": "Verve",
                 *         "currency": "NGN",
                 *         "maskedPan": "506321*********0001",
                 *         "expiryMonth": "08",
                 *         "expiryYear": "2033",
                 *         "status": "canceled",
                 *         "customerId": "0199c1f2-7b1e-7c0a-9d3e-000000000006",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "providerCardId": "7f6ef3e89eb9619c44197138"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `card.terminated`.
                     * @constant
                     */
                    event?: "card.terminated";
                    /** @description The card in its new state. */
                    data?: components["schemas"]["Card"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPayoutPending: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000117",
                 *       "sequence": 117,
                 *       "event": "payout.pending",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "reference": "0199c1f2-7b1e-7c0a-9d3e-000000000004",
                 *         "amount": 5000,
                 *         "fee": 25,
                 *         "status": "PENDING",
                 *         "account_name": "ADA OBI",
                 *         "account_number": "0123456789",
                 *         "bank_code": "000014",
                 *         "narration": "Rent",
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "bank_name": "Access Bank",
                 *         "sessionId": null,
                 *         "failureReason": null,
                 *         "refunded": false,
                 *         "settlementId": 1,
                 *         "completedAt": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `payout.pending`.
                     * @constant
                     */
                    event?: "payout.pending";
                    /** @description The payout, as the GET operation shows it. */
                    data?: components["schemas"]["Payout"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPayoutSuccess: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000118",
                 *       "sequence": 118,
                 *       "event": "payout.success",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "reference": "0199c1f2-7b1e-7c0a-9d3e-000000000004",
                 *         "amount": 5000,
                 *         "fee": 25,
                 *         "status": "SUCCESS",
                 *         "account_name": "ADA OBI",
                 *         "account_number": "0123456789",
                 *         "bank_code": "000014",
                 *         "narration": "Rent",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "bank_name": "Access Bank",
                 *         "sessionId": "999240300102030405123456789012",
                 *         "failureReason": null,
                 *         "refunded": false,
                 *         "settlementId": 1,
                 *         "completedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `payout.success`.
                     * @constant
                     */
                    event?: "payout.success";
                    /** @description The payout, as the GET operation shows it. */
                    data?: components["schemas"]["Payout"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPayoutFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000119",
                 *       "sequence": 119,
                 *       "event": "payout.failed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "reference": "0199c1f2-7b1e-7c0a-9d3e-000000000004",
                 *         "amount": 5000,
                 *         "fee": 25,
                 *         "status": "FAILED",
                 *         "account_name": "ADA OBI",
                 *         "account_number": "0123456789",
                 *         "bank_code": "000014",
                 *         "narration": "Rent",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "bank_name": "Access Bank",
                 *         "sessionId": null,
                 *         "failureReason": "The beneficiary's bank refused this transfer",
                 *         "refunded": true,
                 *         "settlementId": 1,
                 *         "completedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `payout.failed`.
                     * @constant
                     */
                    event?: "payout.failed";
                    /** @description The payout, as the GET operation shows it. */
                    data?: components["schemas"]["Payout"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldPayoutReversed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000120",
                 *       "sequence": 120,
                 *       "event": "payout.reversed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "reference": "0199c1f2-7b1e-7c0a-9d3e-000000000004",
                 *         "amount": 5000,
                 *         "fee": 25,
                 *         "status": "REVERSED",
                 *         "account_name": "ADA OBI",
                 *         "account_number": "0123456789",
                 *         "bank_code": "000014",
                 *         "narration": "Rent",
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "bank_name": "Access Bank",
                 *         "sessionId": "999240300102030405123456789012",
                 *         "failureReason": "The bank returned the money",
                 *         "refunded": true,
                 *         "settlementId": 1,
                 *         "completedAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `payout.reversed`.
                     * @constant
                     */
                    event?: "payout.reversed";
                    /** @description The payout, as the GET operation shows it. */
                    data?: components["schemas"]["Payout"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldBulkPayoutChecked: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000174",
                 *       "sequence": 174,
                 *       "event": "bulk_payout.checked",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "bulkId": "0199c1f2-7b1e-7c0a-9d3e-000000000021",
                 *         "state": "CHECKED",
                 *         "fromSettlementId": 1,
                 *         "lineCount": 2,
                 *         "checking": 0,
                 *         "good": 2,
                 *         "bad": 0,
                 *         "amount": 180000,
                 *         "fee": 50,
                 *         "pending": 0,
                 *         "succeeded": 0,
                 *         "failed": 0,
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "expiresAt": "2030-01-03T03:04:05.678Z",
                 *         "checkedAt": "2030-01-02T03:04:15.678Z",
                 *         "confirmedAt": null,
                 *         "endedAt": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `bulk_payout.checked`.
                     * @constant
                     */
                    event?: "bulk_payout.checked";
                    /** @description The bulk payout, without its lines. */
                    data?: components["schemas"]["BulkPayout"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldBulkPayoutCompleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000175",
                 *       "sequence": 175,
                 *       "event": "bulk_payout.completed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "bulkId": "0199c1f2-7b1e-7c0a-9d3e-000000000021",
                 *         "state": "COMPLETED",
                 *         "fromSettlementId": 1,
                 *         "lineCount": 2,
                 *         "checking": 0,
                 *         "good": 2,
                 *         "bad": 0,
                 *         "amount": 180000,
                 *         "fee": 50,
                 *         "pending": 0,
                 *         "succeeded": 2,
                 *         "failed": 0,
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "expiresAt": "2030-01-03T03:04:05.678Z",
                 *         "checkedAt": "2030-01-02T03:04:15.678Z",
                 *         "confirmedAt": "2030-01-02T03:05:00.678Z",
                 *         "endedAt": "2030-01-02T03:05:20.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `bulk_payout.completed`.
                     * @constant
                     */
                    event?: "bulk_payout.completed";
                    /** @description The bulk payout, without its lines. */
                    data?: components["schemas"]["BulkPayout"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCryptoDepositPending: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000121",
                 *       "sequence": 121,
                 *       "event": "crypto.deposit_pending",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": 2417,
                 *         "type": "deposit",
                 *         "direction": "in",
                 *         "status": "pending",
                 *         "txHash": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *         "amount": 0,
                 *         "from": null,
                 *         "asset": "ETH",
                 *         "companyId": "c3v7k2m9x4",
                 *         "networkId": "ethereum-mainnet",
                 *         "tokenAddress": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *         "meta": {
                 *           "from": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *           "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *           "blockNumber": 150605873,
                 *           "raw": {
                 *             "address": "0x9858effd232b4033e47d90003d41ec34ecaeda94",
                 *             "amount": "0.25",
                 *             "asset": "ETH",
                 *             "blockNumber": 150605873,
                 *             "chain": "ethereum-mainnet",
                 *             "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *             "subscriptionId": "66d0f6c34f0f8e0835c00a28",
                 *             "subscriptionType": "ADDRESS_EVENT",
                 *             "txId": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *             "type": "native"
                 *           }
                 *         },
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "amountDecimal": "0.25",
                 *         "amountUnits": "250000000000000000",
                 *         "decimals": 18,
                 *         "contractAddress": null,
                 *         "address": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `crypto.deposit_pending`.
                     * @constant
                     */
                    event?: "crypto.deposit_pending";
                    /** @description The transaction, as the history shows it. */
                    data?: components["schemas"]["CryptoTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCryptoDepositCompleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000122",
                 *       "sequence": 122,
                 *       "event": "crypto.deposit_completed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": 2417,
                 *         "type": "deposit",
                 *         "direction": "in",
                 *         "status": "completed",
                 *         "txHash": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *         "amount": 0,
                 *         "from": null,
                 *         "asset": "ETH",
                 *         "companyId": "c3v7k2m9x4",
                 *         "networkId": "ethereum-mainnet",
                 *         "tokenAddress": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *         "meta": {
                 *           "from": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *           "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *           "blockNumber": 150605873,
                 *           "raw": {
                 *             "address": "0x9858effd232b4033e47d90003d41ec34ecaeda94",
                 *             "amount": "0.25",
                 *             "asset": "ETH",
                 *             "blockNumber": 150605873,
                 *             "chain": "ethereum-mainnet",
                 *             "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *             "subscriptionId": "66d0f6c34f0f8e0835c00a28",
                 *             "subscriptionType": "ADDRESS_EVENT",
                 *             "txId": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *             "type": "native"
                 *           }
                 *         },
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "amountDecimal": "0.25",
                 *         "amountUnits": "250000000000000000",
                 *         "decimals": 18,
                 *         "contractAddress": null,
                 *         "address": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `crypto.deposit_completed`.
                     * @constant
                     */
                    event?: "crypto.deposit_completed";
                    /** @description The transaction, as the history shows it. */
                    data?: components["schemas"]["CryptoTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCryptoDepositFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000123",
                 *       "sequence": 123,
                 *       "event": "crypto.deposit_failed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": 2417,
                 *         "type": "deposit",
                 *         "direction": "in",
                 *         "status": "failed",
                 *         "txHash": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *         "amount": 0,
                 *         "from": null,
                 *         "asset": "ETH",
                 *         "companyId": "c3v7k2m9x4",
                 *         "networkId": "ethereum-mainnet",
                 *         "tokenAddress": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *         "meta": {
                 *           "from": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *           "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *           "blockNumber": 150605873,
                 *           "raw": {
                 *             "address": "0x9858effd232b4033e47d90003d41ec34ecaeda94",
                 *             "amount": "0.25",
                 *             "asset": "ETH",
                 *             "blockNumber": 150605873,
                 *             "chain": "ethereum-mainnet",
                 *             "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *             "subscriptionId": "66d0f6c34f0f8e0835c00a28",
                 *             "subscriptionType": "ADDRESS_EVENT",
                 *             "txId": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *             "type": "native"
                 *           }
                 *         },
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "amountDecimal": "0.25",
                 *         "amountUnits": "250000000000000000",
                 *         "decimals": 18,
                 *         "contractAddress": null,
                 *         "address": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `crypto.deposit_failed`.
                     * @constant
                     */
                    event?: "crypto.deposit_failed";
                    /** @description The transaction, as the history shows it. */
                    data?: components["schemas"]["CryptoTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCryptoWithdrawalCompleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000124",
                 *       "sequence": 124,
                 *       "event": "crypto.withdrawal_completed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": 2418,
                 *         "type": "withdrawal",
                 *         "direction": "out",
                 *         "status": "completed",
                 *         "txHash": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *         "amount": 0,
                 *         "from": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *         "asset": "ETH",
                 *         "companyId": "c3v7k2m9x4",
                 *         "networkId": "ethereum-mainnet",
                 *         "tokenAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *         "meta": {
                 *           "from": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *           "counterAddress": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *           "blockNumber": 150605873,
                 *           "raw": {
                 *             "address": "0x9858effd232b4033e47d90003d41ec34ecaeda94",
                 *             "amount": "-0.25",
                 *             "asset": "ETH",
                 *             "blockNumber": 150605873,
                 *             "chain": "ethereum-mainnet",
                 *             "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *             "subscriptionId": "66d0f6c34f0f8e0835c00a28",
                 *             "subscriptionType": "ADDRESS_EVENT",
                 *             "txId": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *             "type": "native"
                 *           }
                 *         },
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "amountDecimal": "0.25",
                 *         "amountUnits": "250000000000000000",
                 *         "decimals": 18,
                 *         "contractAddress": null,
                 *         "address": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `crypto.withdrawal_completed`.
                     * @constant
                     */
                    event?: "crypto.withdrawal_completed";
                    /** @description The transaction, as the history shows it. */
                    data?: components["schemas"]["CryptoTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCryptoWithdrawalFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000125",
                 *       "sequence": 125,
                 *       "event": "crypto.withdrawal_failed",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "id": 2418,
                 *         "type": "withdrawal",
                 *         "direction": "out",
                 *         "status": "failed",
                 *         "txHash": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *         "amount": 0,
                 *         "from": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *         "asset": "ETH",
                 *         "companyId": "c3v7k2m9x4",
                 *         "networkId": "ethereum-mainnet",
                 *         "tokenAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *         "meta": {
                 *           "from": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *           "counterAddress": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
                 *           "blockNumber": 150605873,
                 *           "raw": {
                 *             "address": "0x9858effd232b4033e47d90003d41ec34ecaeda94",
                 *             "amount": "-0.25",
                 *             "asset": "ETH",
                 *             "blockNumber": 150605873,
                 *             "chain": "ethereum-mainnet",
                 *             "counterAddress": "0x069E09AC77F2d844063b634F38F6F9B1e8929c36",
                 *             "subscriptionId": "66d0f6c34f0f8e0835c00a28",
                 *             "subscriptionType": "ADDRESS_EVENT",
                 *             "txId": "0x2f023b43acedf1135d3f8df6396c6e88110e7f0e079fb80ad9090e7565474cca",
                 *             "type": "native"
                 *           }
                 *         },
                 *         "createdAt": "2030-01-02T03:04:05.123Z",
                 *         "updatedAt": "2030-01-02T03:04:05.678Z",
                 *         "amountDecimal": "0.25",
                 *         "amountUnits": "250000000000000000",
                 *         "decimals": 18,
                 *         "contractAddress": null,
                 *         "address": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `crypto.withdrawal_failed`.
                     * @constant
                     */
                    event?: "crypto.withdrawal_failed";
                    /** @description The transaction, as the history shows it. */
                    data?: components["schemas"]["CryptoTransaction"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCorporateKycVerified: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000126",
                 *       "sequence": 126,
                 *       "event": "corporate.kyc_verified",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "kyc_id": "0199c1f2-7b1e-7c0a-9d3e-000000000011",
                 *         "session_id": "0199c1f2-7b1e-7c0a-9d3e-000000000012",
                 *         "status": "VERIFIED",
                 *         "createdAt": "2030-01-02T03:04:05.678Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `corporate.kyc_verified`.
                     * @constant
                     */
                    event?: "corporate.kyc_verified";
                    /** @description The proven identity. */
                    data?: {
                        /** @description Use it to generate a corporate account. */
                        kyc_id: string;
                        /** @description The session in which the OTP was validated. */
                        session_id: string;
                        /**
                         * @description Always `VERIFIED`.
                         * @constant
                         */
                        status: "VERIFIED";
                        /** @description When the identity was proven. */
                        createdAt: components["schemas"]["Instant"];
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCorporateAccountCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000127",
                 *       "sequence": 127,
                 *       "event": "corporate.account_created",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "coporate_reference": "0199c1f2-7b1e-7c0a-9d3e-000000000013",
                 *         "accountNumber": "8000000011",
                 *         "accountName": "KOBO / EXAMPLE VENTURES RC123456",
                 *         "balance": 0,
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "rn_number": "RC123456"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `corporate.account_created`.
                     * @constant
                     */
                    event?: "corporate.account_created";
                    /** @description The corporate account. */
                    data?: components["schemas"]["CorporateAccount"];
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    toldCorporateAccountUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`, the same each time it is sent. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, with a space between, while a secret is being changed. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "0199c1f2-7b1e-7c0a-9d3e-000000000128",
                 *       "sequence": 128,
                 *       "event": "corporate.account_updated",
                 *       "createdAt": "2030-01-02T03:04:05.678Z",
                 *       "companyId": "c3v7k2m9x4",
                 *       "environment": "live",
                 *       "data": {
                 *         "coporate_reference": "0199c1f2-7b1e-7c0a-9d3e-000000000013",
                 *         "accountNumber": "8000000011",
                 *         "accountName": "KOBO / EXAMPLE VENTURES RC123456",
                 *         "balance": 0,
                 *         "createdAt": "2030-01-02T03:04:05.678Z",
                 *         "rn_number": "RC123456",
                 *         "settlementId": 2
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Event"] & {
                    /**
                     * @description Always `corporate.account_updated`.
                     * @constant
                     */
                    event?: "corporate.account_updated";
                    /** @description The corporate account and the settlement account of its credits. */
                    data?: components["schemas"]["CorporateAccount"] & {
                        /** @description The settlement account of its future credits. */
                        settlementId: number;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted. Any 2xx within 10 seconds counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
