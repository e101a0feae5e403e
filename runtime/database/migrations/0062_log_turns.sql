CREATE TABLE "activity_turns" (
	"domain_id" uuid PRIMARY KEY NOT NULL,
	"began_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "activity_turns" ADD CONSTRAINT "activity_turns_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
-- Notes where an entry's moment is before that of the entry before it in the chain. By a trigger, so that an older host,
-- and a call of chain_activity that began before this migration, note it too.
CREATE FUNCTION note_turns() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO activity_turns (domain_id, began_at)
    SELECT domain_id, max(ahead) FROM (
      SELECT domain_id, event_began_at, coalesce(
        lag(event_began_at) OVER (PARTITION BY domain_id ORDER BY id),
        (SELECT before.event_began_at FROM activity_logs before
          WHERE before.domain_id = added.domain_id AND before.id < added.id ORDER BY before.id DESC LIMIT 1)) AS ahead
      FROM added) chained
    WHERE ahead > event_began_at GROUP BY domain_id
    ON CONFLICT (domain_id) DO UPDATE SET began_at = greatest(activity_turns.began_at, excluded.began_at);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Nobody adds entries between this and the end of the migration: the next statement sees all that there are.
CREATE TRIGGER "activity_logs_turns" AFTER INSERT ON "activity_logs" REFERENCING NEW TABLE AS added
	FOR EACH STATEMENT EXECUTE FUNCTION "note_turns"();
--> statement-breakpoint
INSERT INTO "activity_turns" ("domain_id", "began_at")
	SELECT domain_id, max(ahead) FROM (
		SELECT domain_id, event_began_at, lag(event_began_at) OVER (PARTITION BY domain_id ORDER BY id) AS ahead
		FROM activity_logs) chained
	WHERE ahead > event_began_at GROUP BY domain_id;
