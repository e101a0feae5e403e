-- Generations are only added to, but for the name of a person who is erased, by the function below.
DROP TRIGGER "generations_append_only" ON "generations";
--> statement-breakpoint
CREATE TRIGGER "generations_append_only" BEFORE DELETE OR TRUNCATE ON "generations"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
CREATE TRIGGER "generations_unchanged" BEFORE UPDATE ON "generations"
	FOR EACH STATEMENT WHEN (current_setting('keyway.erasing', true) IS DISTINCT FROM 'on')
	EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
ALTER TABLE "generations" ENABLE ALWAYS TRIGGER "generations_append_only";
--> statement-breakpoint
ALTER TABLE "generations" ENABLE ALWAYS TRIGGER "generations_unchanged";
--> statement-breakpoint
-- Takes a person out of who changed what is installed, and why; `names` are regular expressions that find them in texts.
CREATE FUNCTION erase_from_generations(person uuid, names text[]) RETURNS SETOF integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM set_config('keyway.erasing', 'on', true);
  RETURN QUERY UPDATE generations SET
      "by" = CASE WHEN user_id = person THEN 'erased' ELSE "by" END,
      reason = CASE WHEN user_id = person OR reason ~* ANY (names) THEN 'erased' ELSE reason END
    WHERE user_id = person OR reason ~* ANY (names) RETURNING number;
  PERFORM set_config('keyway.erasing', '', true);
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION erase_from_generations(uuid, text[]) FROM PUBLIC;
