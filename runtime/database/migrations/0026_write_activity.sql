-- Adds rows to the log of a domain, one after the other, in one question. Each comes as the canonical JSON of
-- [domain_id, event_type, outcome, actor, targets, event_metadata] without its brackets (core/activity/chain.ts);
-- its hash and its moment are made here, once the lock is held: no row before it can still appear, or be of later.
CREATE FUNCTION write_activity(logged uuid, bodies text[], lock_number bigint) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  before text;
  body text;
  content jsonb;
  began timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(lock_number);
  SELECT event_hash INTO before FROM activity_logs WHERE domain_id = logged ORDER BY id DESC LIMIT 1;
  FOREACH body IN ARRAY bodies LOOP
    content := ('[' || body || ']')::jsonb;
    began := date_trunc('milliseconds', clock_timestamp());
    before := encode(sha512(convert_to(
      '["' || coalesce(before, '') || '",' || body || ',"'
        || to_char(began AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"]', 'UTF8')), 'hex');
    INSERT INTO activity_logs (domain_id, event_hash, event_type, outcome, actor, targets, event_metadata, event_began_at)
      VALUES (logged, before, content->>1, content->>2, content->3, content->4, content->5, began);
  END LOOP;
END $$;
