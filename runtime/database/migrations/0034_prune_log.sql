CREATE TABLE "activity_checkpoints" (
	"domain_id" uuid PRIMARY KEY NOT NULL,
	"event_hash" text NOT NULL,
	"rows" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "activity_checkpoints" ADD CONSTRAINT "activity_checkpoints_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
-- The log is only added to, but for the oldest entries, which the function below removes.
DROP TRIGGER "activity_logs_append_only" ON "activity_logs";
--> statement-breakpoint
CREATE TRIGGER "activity_logs_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "activity_logs"
	FOR EACH STATEMENT WHEN (current_setting('keyway.pruning', true) IS DISTINCT FROM 'on')
	EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
ALTER TABLE "activity_logs" ENABLE ALWAYS TRIGGER "activity_logs_append_only";
--> statement-breakpoint
-- Removes the oldest entries of a log, without a gap, with what is personal in them; notes the hash from which the rest
-- goes on, and records it in the log itself. The newest entry stays, and what a webhook has still to be told. What waits
-- to be chained is not looked at. No entry goes within a year, whoever asks.
CREATE FUNCTION prune_activity(logged uuid, kept_days integer, most integer, lock_number bigint) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  last bigint;
  gone integer;
  head text;
BEGIN
  IF kept_days < 365 THEN
    RAISE EXCEPTION 'the activity log is kept for 365 days at least, not %', kept_days;
  END IF;
  PERFORM pg_advisory_xact_lock(lock_number);
  SELECT max(id), count(*) INTO last, gone FROM (
    SELECT id, bool_and(event_began_at < now() - make_interval(days => kept_days)) OVER (ORDER BY id) AS is_old
    FROM (SELECT id, event_began_at FROM activity_logs WHERE domain_id = logged ORDER BY id LIMIT most) oldest
  ) walked
  WHERE is_old
    AND id < (SELECT max(id) FROM activity_logs WHERE domain_id = logged)
    AND id <= coalesce((SELECT min(delivered_id) FROM event_feeds WHERE domain_id = logged), id);
  IF last IS NULL THEN
    RETURN 0;
  END IF;
  SELECT event_hash INTO head FROM activity_logs WHERE domain_id = logged AND id = last;
  DELETE FROM activity_personal WHERE commitment IN (
    SELECT jsonb_path_query(jsonb_build_array(actor, targets, event_metadata), '$.**."$personal"') #>> '{}'
    FROM activity_logs WHERE domain_id = logged AND id <= last);
  PERFORM set_config('keyway.pruning', 'on', true);
  DELETE FROM activity_logs WHERE domain_id = logged AND id <= last;
  PERFORM set_config('keyway.pruning', '', true);
  INSERT INTO activity_checkpoints (domain_id, event_hash, rows) VALUES (logged, head, gone)
    ON CONFLICT (domain_id) DO UPDATE SET event_hash = excluded.event_hash, rows = activity_checkpoints.rows + excluded.rows;
  -- Canonical, as core/kernel/audit/chain.ts writes it.
  INSERT INTO activity_waiting (domain_id, body) VALUES (logged, format(
    '"%s","LOG_PRUNED","Succeeded",{"actor_type":"Lumos system","email":"","family_name":"","given_name":""},[],{"head":"%s","rows":%s}',
    logged, head, gone));
  RETURN gone;
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION prune_activity(uuid, integer, integer, bigint) FROM PUBLIC;
