ALTER TABLE "accounts" DROP CONSTRAINT "accounts_domain_id_domains_id_fk";
--> statement-breakpoint
ALTER TABLE "accounts" DROP CONSTRAINT "accounts_app_id_apps_id_fk";

--> statement-breakpoint
-- What the two foreign keys held, once for a statement instead of twice for each of its rows: accounts are of an app that
-- is there, and of its domain. The app cannot go while the transaction lasts.
CREATE FUNCTION check_account_apps() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  found_apps bigint;
BEGIN
  PERFORM FROM apps WHERE (id, domain_id) IN (SELECT app_id, domain_id FROM added) FOR KEY SHARE;
  GET DIAGNOSTICS found_apps = ROW_COUNT;
  IF found_apps <> (SELECT count(*) FROM (SELECT DISTINCT app_id, domain_id FROM added) AS each) THEN
    RAISE foreign_key_violation USING MESSAGE = 'accounts of an app that is not there, or is another domain''s';
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION refuse_account_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE foreign_key_violation USING MESSAGE = 'an account stays in its app';
END $$;
--> statement-breakpoint
CREATE FUNCTION delete_accounts_of_apps() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM accounts WHERE app_id IN (SELECT id FROM removed);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "accounts_app_there" AFTER INSERT ON "accounts" REFERENCING NEW TABLE AS added
	FOR EACH STATEMENT EXECUTE FUNCTION check_account_apps();
--> statement-breakpoint
CREATE TRIGGER "accounts_app_stays" BEFORE UPDATE OF "app_id", "domain_id" ON "accounts" FOR EACH ROW
	WHEN (old."app_id" IS DISTINCT FROM new."app_id" OR old."domain_id" IS DISTINCT FROM new."domain_id")
	EXECUTE FUNCTION refuse_account_move();
--> statement-breakpoint
CREATE TRIGGER "apps_accounts_go" AFTER DELETE ON "apps" REFERENCING OLD TABLE AS removed
	FOR EACH STATEMENT EXECUTE FUNCTION delete_accounts_of_apps();
