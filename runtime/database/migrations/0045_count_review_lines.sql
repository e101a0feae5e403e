CREATE TABLE "access_review_counts" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"review_id" uuid NOT NULL,
	"arda_id" uuid NOT NULL,
	"state" text NOT NULL,
	"hints" text[] NOT NULL,
	"n" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_review_texts" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"review_id" uuid NOT NULL,
	"arda_id" uuid NOT NULL,
	"account_id" uuid,
	"entitlement" text,
	"searched" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_review_texts" ADD CONSTRAINT "access_review_texts_arda_id_access_review_apps_id_fk" FOREIGN KEY ("arda_id") REFERENCES "public"."access_review_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_review_counts_review" ON "access_review_counts" USING btree ("review_id");--> statement-breakpoint
CREATE INDEX "access_review_counts_arda" ON "access_review_counts" USING btree ("arda_id");--> statement-breakpoint
CREATE INDEX "access_review_texts_review" ON "access_review_texts" USING btree ("review_id");--> statement-breakpoint
CREATE INDEX "access_review_texts_arda" ON "access_review_texts" USING btree ("arda_id");--> statement-breakpoint
CREATE INDEX "access_review_texts_account" ON "access_review_texts" USING btree ("account_id");--> statement-breakpoint
-- Writes into access_review_counts what a statement did to lines. Nothing is read or locked, so people who decide do not
-- wait for each other. Lines go with their app: what was counted of it goes too.
CREATE FUNCTION count_review_lines() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO access_review_counts (domain_id, review_id, arda_id, state, hints, n)
      SELECT domain_id, review_id, arda_id, state, hints, count(*) FROM added GROUP BY 1, 2, 3, 4, 5;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO access_review_counts (domain_id, review_id, arda_id, state, hints, n)
      SELECT domain_id, review_id, arda_id, state, hints, -count(*) FROM removed
      WHERE EXISTS (SELECT FROM access_review_apps a WHERE a.id = arda_id) GROUP BY 1, 2, 3, 4, 5;
    DELETE FROM access_review_counts WHERE arda_id IN (SELECT DISTINCT r.arda_id FROM removed r
      WHERE NOT EXISTS (SELECT FROM access_review_apps a WHERE a.id = r.arda_id));
  ELSE
    INSERT INTO access_review_counts (domain_id, review_id, arda_id, state, hints, n)
      SELECT domain_id, review_id, arda_id, state, hints, sum(n)
      FROM (SELECT domain_id, review_id, arda_id, state, hints, 1 AS n FROM added
        UNION ALL SELECT domain_id, review_id, arda_id, state, hints, -1 FROM removed) AS both_sides
      GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
LOCK TABLE access_review_items IN SHARE ROW EXCLUSIVE MODE;
--> statement-breakpoint
CREATE TRIGGER count_insert AFTER INSERT ON access_review_items REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_review_lines();
--> statement-breakpoint
CREATE TRIGGER count_update AFTER UPDATE ON access_review_items REFERENCING NEW TABLE AS added OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_review_lines();
--> statement-breakpoint
CREATE TRIGGER count_delete AFTER DELETE ON access_review_items REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_review_lines();
--> statement-breakpoint
INSERT INTO access_review_counts (domain_id, review_id, arda_id, state, hints, n)
  SELECT domain_id, review_id, arda_id, state, hints, count(*) FROM access_review_items GROUP BY 1, 2, 3, 4, 5;
--> statement-breakpoint
INSERT INTO access_review_texts (domain_id, review_id, arda_id, account_id, searched)
  SELECT DISTINCT domain_id, review_id, arda_id, account_id, concat_ws(chr(1), account, user_email) FROM access_review_items;
--> statement-breakpoint
INSERT INTO access_review_texts (domain_id, review_id, arda_id, entitlement, searched)
  SELECT DISTINCT domain_id, review_id, arda_id, md5(external_id), label FROM access_review_items
  WHERE external_id IS NOT NULL AND label IS NOT NULL;
--> statement-breakpoint
SELECT track_changes('access_review_texts');
