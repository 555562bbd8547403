-- The fair rivals: the rows of a purchase, written by functions inside PostgreSQL. rival_begin does
-- what the first commit of a purchase does, and rival_end what the second does. Each locks the row
-- of its company first. Both take several purchases of one company, and write them set-wise.
CREATE TABLE rival_company (company TEXT PRIMARY KEY, events BIGINT NOT NULL);
CREATE TABLE rival_account (company TEXT, id TEXT, balance BIGINT NOT NULL, entries BIGINT NOT NULL, PRIMARY KEY (company, id));
CREATE TABLE rival_operation (company TEXT, id TEXT, state TEXT NOT NULL, account TEXT NOT NULL, amount BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, PRIMARY KEY (company, id));
CREATE TABLE rival_purchase (company TEXT, id TEXT, category TEXT NOT NULL, product TEXT NOT NULL, phone TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (company, id));
CREATE TABLE rival_transfer (company TEXT, reference TEXT, step TEXT, debit TEXT NOT NULL, credit TEXT NOT NULL, amount BIGINT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (company, reference, step));
CREATE TABLE rival_entry (company TEXT, account TEXT, number BIGINT, reference TEXT NOT NULL, step TEXT NOT NULL, amount BIGINT NOT NULL, balance BIGINT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (company, account, number));
CREATE TABLE rival_event (company TEXT, number BIGINT, kind TEXT NOT NULL, data TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (company, number));
CREATE TABLE rival_job (company TEXT, id TEXT, kind TEXT NOT NULL, run_at BIGINT NOT NULL, PRIMARY KEY (company, id));

INSERT INTO rival_company SELECT 'company-' || n, 0 FROM generate_series(0, 999) n;
INSERT INTO rival_account SELECT 'company-' || n, id, CASE id WHEN 'settlement' THEN 10000000000000 ELSE 0 END, 0
	FROM generate_series(0, 999) n, unnest(ARRAY['settlement', 'clearing', 'provider']) id;

-- rival_move moves an amount per purchase from one account to another, with two entries each.
CREATE FUNCTION rival_move(of TEXT, ids TEXT[], at_step TEXT, from_account TEXT, to_account TEXT, each BIGINT, now BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
	n BIGINT := cardinality(ids);
	a rival_account;
	b rival_account;
BEGIN
	UPDATE rival_account SET balance = balance - n * each, entries = entries + n WHERE company = of AND id = from_account RETURNING * INTO a;
	IF from_account = 'settlement' AND a.balance < 0 THEN
		RAISE EXCEPTION 'insufficient balance';
	END IF;
	UPDATE rival_account SET balance = balance + n * each, entries = entries + n WHERE company = of AND id = to_account RETURNING * INTO b;
	INSERT INTO rival_transfer SELECT of, u.id, at_step, from_account, to_account, each, now FROM unnest(ids) u(id);
	INSERT INTO rival_entry
		SELECT of, from_account, a.entries - n + u.i, u.id, at_step, -each, a.balance + (n - u.i) * each, now FROM unnest(ids) WITH ORDINALITY u(id, i)
		UNION ALL
		SELECT of, to_account, b.entries - n + u.i, u.id, at_step, each, b.balance - (n - u.i) * each, now FROM unnest(ids) WITH ORDINALITY u(id, i);
END $$;

CREATE FUNCTION rival_tell(of TEXT, ids TEXT[], what TEXT, now BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
	n BIGINT := cardinality(ids);
	last BIGINT;
BEGIN
	UPDATE rival_company SET events = events + n WHERE company = of RETURNING events INTO last;
	INSERT INTO rival_event SELECT of, last - n + u.i, what,
		'{"transactionId":"' || u.id || '","status":"' || what || '","type":"DATA","amount":"100.00","fee":"0.00","phoneNumber":"08030000010","productName":"1GB","settlementId":1}', now
		FROM unnest(ids) WITH ORDINALITY u(id, i);
END $$;

CREATE FUNCTION rival_begin(of TEXT, ids TEXT[]) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
	now BIGINT := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
	PERFORM rival_tell(of, ids, 'vtu.pending', now); -- locks the company
	PERFORM rival_move(of, ids, '', 'settlement', 'clearing', 100, now);
	INSERT INTO rival_operation SELECT of, u.id, 'PENDING', 'settlement', 100, now, now FROM unnest(ids) u(id);
	INSERT INTO rival_purchase SELECT of, u.id, 'category', 'product', '08030000010', now FROM unnest(ids) u(id);
	INSERT INTO rival_job SELECT of, u.id, 'operation.resolve', now + 35000000 FROM unnest(ids) u(id);
END $$;

CREATE FUNCTION rival_end(of TEXT, ids TEXT[]) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
	now BIGINT := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
	PERFORM rival_tell(of, ids, 'vtu.success', now); -- locks the company
	PERFORM rival_move(of, ids, 'settle', 'clearing', 'provider', 100, now);
	UPDATE rival_operation SET state = 'SUCCESS', updated_at = now WHERE company = of AND id = ANY(ids) AND state = 'PENDING';
	DELETE FROM rival_job WHERE company = of AND id = ANY(ids);
END $$;
