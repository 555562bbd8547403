-- What a hot account costs when each request locks its row for itself: the same
-- rows as a unit of the ledger, one statement after the other (make bench-naive).
BEGIN;
SELECT gen_random_uuid() AS operation, gen_random_uuid()::text AS key, gen_random_uuid() AS transfer, gen_random_uuid() AS job \gset
SELECT balance AS debit_balance, sequence AS debit_sequence FROM naive_account WHERE id = 1 FOR UPDATE \gset
SELECT balance AS credit_balance, sequence AS credit_sequence FROM naive_account WHERE id = 2 FOR UPDATE \gset
INSERT INTO naive_operation VALUES (:operation, :key, 'PENDING', 1, 0);
INSERT INTO naive_transfer VALUES (:transfer, 1, 2, 1);
INSERT INTO naive_entry VALUES (1, :debit_sequence::bigint + 1, :transfer, -1, :debit_balance::bigint, :debit_balance::bigint - 1);
INSERT INTO naive_entry VALUES (2, :credit_sequence::bigint + 1, :transfer, 1, :credit_balance::bigint, :credit_balance::bigint + 1);
UPDATE naive_account SET balance = balance - 1, sequence = sequence + 1 WHERE id = 1;
UPDATE naive_account SET balance = balance + 1, sequence = sequence + 1 WHERE id = 2;
INSERT INTO naive_event (kind, data) VALUES ('vtu.pending', '{"transactionId":"…"}');
INSERT INTO naive_job VALUES (:job, 'operation.resolve', 0);
COMMIT;
