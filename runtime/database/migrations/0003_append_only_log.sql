-- The log only grows, whoever asks: also for the role that owns the table.
CREATE FUNCTION "refuse_log_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
--> statement-breakpoint
CREATE TRIGGER "activity_logs_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "activity_logs"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
-- ALWAYS: a session that calls itself a replica is refused as well.
ALTER TABLE "activity_logs" ENABLE ALWAYS TRIGGER "activity_logs_append_only";
