CREATE TABLE "activity_waiting" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"body" text NOT NULL,
	"began_at" timestamp with time zone DEFAULT date_trunc('milliseconds', clock_timestamp()) NOT NULL,
	CONSTRAINT "activity_waiting_reads" CHECK (jsonb_array_length(('[' || "activity_waiting"."body" || ']')::jsonb) = 6)
);
--> statement-breakpoint
-- Hosts of the version before write by this function: their entries wait like others. The lock is not needed for it.
CREATE OR REPLACE FUNCTION write_activity(logged uuid, bodies text[], lock_number bigint) RETURNS void
LANGUAGE sql SET search_path = public, pg_temp AS $$
  INSERT INTO activity_waiting (domain_id, body)
    SELECT logged, body FROM unnest(bodies) WITH ORDINALITY AS given (body, place) ORDER BY place;
$$;
--> statement-breakpoint
-- Moves waiting entries of a domain into the chain, oldest first, and says how many. One transaction at a time, by the
-- lock: `patient` waits for it, else 0 is answered where another one has it. Each entry comes as the canonical JSON of
-- [domain_id, event_type, outcome, actor, targets, event_metadata] without its brackets (core/kernel/audit/chain.ts).
-- An entry whose transaction committed late gets the moment of the entry before it: moments never go back in the chain,
-- so that a reader who goes on from a moment misses nothing. A moment ahead of the clock is not handed on.
CREATE FUNCTION chain_activity(logged uuid, most integer, lock_number bigint, patient boolean) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  before text;
  began timestamptz;
  moment timestamptz;
  waiting record;
  ids bigint[] := '{}';
  hashes text[] := '{}';
  moments timestamptz[] := '{}';
  contents jsonb[] := '{}';
BEGIN
  -- What a snapshot no longer sees waiting, a later one sees in the chain.
  IF NOT EXISTS (SELECT FROM activity_waiting WHERE domain_id = logged) THEN
    RETURN 0;
  END IF;
  IF patient THEN
    PERFORM pg_advisory_xact_lock(lock_number);
  ELSIF NOT pg_try_advisory_xact_lock(lock_number) THEN
    RETURN 0;
  END IF;
  SELECT event_hash, event_began_at INTO before, began
    FROM activity_logs WHERE domain_id = logged ORDER BY id DESC LIMIT 1;
  FOR waiting IN
    SELECT id, body, began_at FROM activity_waiting WHERE domain_id = logged ORDER BY id LIMIT most
  LOOP
    moment := greatest(waiting.began_at, least(coalesce(began, waiting.began_at),
      date_trunc('milliseconds', clock_timestamp())));
    before := encode(sha512(convert_to(
      '["' || coalesce(before, '') || '",' || waiting.body || ',"'
        || to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"]', 'UTF8')), 'hex');
    began := moment;
    ids := array_append(ids, waiting.id);
    hashes := array_append(hashes, before);
    moments := array_append(moments, moment);
    contents := array_append(contents, ('[' || waiting.body || ']')::jsonb);
  END LOOP;
  INSERT INTO activity_logs (domain_id, event_hash, event_type, outcome, actor, targets, event_metadata, event_began_at)
    SELECT logged, hash, content->>1, content->>2, content->3, content->4, content->5, chained_at
    FROM unnest(hashes, contents, moments) WITH ORDINALITY AS chained (hash, content, chained_at, place) ORDER BY place;
  -- By which the trigger below knows who removes them.
  PERFORM set_config('keyway.chaining', 'on', true);
  DELETE FROM activity_waiting WHERE id = ANY (ids);
  PERFORM set_config('keyway.chaining', '', true);
  RETURN cardinality(ids);
END $$;
--> statement-breakpoint
-- It may do more than whoever calls it: only the role of the hosts may (database/app-role.ts).
REVOKE ALL ON FUNCTION chain_activity(uuid, integer, bigint, boolean) FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER "activity_waiting_kept" BEFORE UPDATE OR TRUNCATE ON "activity_waiting"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
CREATE TRIGGER "activity_waiting_chained" BEFORE DELETE ON "activity_waiting"
	FOR EACH STATEMENT WHEN (current_setting('keyway.chaining', true) IS DISTINCT FROM 'on')
	EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
ALTER TABLE "activity_waiting" ENABLE ALWAYS TRIGGER "activity_waiting_kept";
--> statement-breakpoint
ALTER TABLE "activity_waiting" ENABLE ALWAYS TRIGGER "activity_waiting_chained";
--> statement-breakpoint
-- Hosts of the version before go on writing before one of this version has given the role its rights.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'keyway_app') THEN
    GRANT SELECT, INSERT ON activity_waiting TO keyway_app;
    GRANT USAGE, SELECT ON SEQUENCE activity_waiting_id_seq TO keyway_app;
  END IF;
END $$;
