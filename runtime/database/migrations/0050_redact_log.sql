CREATE TABLE "activity_redactions" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"batch" uuid NOT NULL,
	"event_hash" text NOT NULL,
	"digest" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "activity_redactions_entry" ON "activity_redactions" USING btree ("event_hash");--> statement-breakpoint
CREATE INDEX "activity_redactions_batch" ON "activity_redactions" USING btree ("batch");
--> statement-breakpoint
-- The log is only added to, but for the oldest entries (prune_activity), and for names, by the function below.
DROP TRIGGER "activity_logs_append_only" ON "activity_logs";
--> statement-breakpoint
CREATE TRIGGER "activity_logs_append_only" BEFORE DELETE OR TRUNCATE ON "activity_logs"
	FOR EACH STATEMENT WHEN (current_setting('keyway.pruning', true) IS DISTINCT FROM 'on')
	EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
CREATE TRIGGER "activity_logs_unchanged" BEFORE UPDATE ON "activity_logs"
	FOR EACH STATEMENT WHEN (current_setting('keyway.redacting', true) IS DISTINCT FROM 'on')
	EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
ALTER TABLE "activity_logs" ENABLE ALWAYS TRIGGER "activity_logs_append_only";
--> statement-breakpoint
ALTER TABLE "activity_logs" ENABLE ALWAYS TRIGGER "activity_logs_unchanged";
--> statement-breakpoint
-- Takes names out of entries, which keep their hashes; `names` are regular expressions, whose first group is what stands
-- before a name. Notes what each entry says since, and records one digest of all of that in the log itself: who changes
-- an entry beside this function, or what was noted of it, is found (core/kernel/audit/redacted.ts).
CREATE FUNCTION redact_activity(logged uuid, together uuid, entries bigint[], names text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  name text;
  noted integer;
  listed text;
BEGIN
  PERFORM set_config('keyway.redacting', 'on', true);
  FOREACH name IN ARRAY names LOOP
    UPDATE activity_logs SET
        actor = regexp_replace(actor::text, name, '\1erased', 'gi')::jsonb,
        targets = regexp_replace(targets::text, name, '\1erased', 'gi')::jsonb,
        event_metadata = regexp_replace(event_metadata::text, name, '\1erased', 'gi')::jsonb
      WHERE domain_id = logged AND id = ANY (entries)
        AND concat_ws(' ', actor, targets, event_metadata) ~* name;
  END LOOP;
  PERFORM set_config('keyway.redacting', '', true);
  INSERT INTO activity_redactions (domain_id, batch, event_hash, digest)
    SELECT logged, together, event_hash, encode(sha256(convert_to(
      jsonb_build_array(actor, targets, event_metadata)::text, 'UTF8')), 'hex')
    FROM activity_logs WHERE domain_id = logged AND id = ANY (entries) ORDER BY id;
  GET DIAGNOSTICS noted = ROW_COUNT;
  SELECT encode(sha256(convert_to(string_agg(event_hash || ' ' || digest, e'\n' ORDER BY event_hash COLLATE "C"), 'UTF8')), 'hex')
    INTO listed FROM activity_redactions WHERE batch = together;
  -- Canonical, as core/kernel/audit/entry-hash.ts writes it.
  INSERT INTO activity_waiting (domain_id, body) VALUES (logged, format(
    '"%s","LOG_REDACTED","Succeeded",{"actor_type":"Lumos system","email":"","family_name":"","given_name":""},[],{"batch":"%s","digest":"%s","rows":%s}',
    logged, together, listed, noted));
  RETURN noted;
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION redact_activity(uuid, uuid, bigint[], text[]) FROM PUBLIC;
