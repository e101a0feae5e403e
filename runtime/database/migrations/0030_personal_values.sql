CREATE TABLE "activity_personal" (
	"commitment" text PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"user_id" uuid,
	"salt" "bytea" NOT NULL,
	"value" jsonb NOT NULL
);
--> statement-breakpoint
CREATE INDEX "activity_personal_user" ON "activity_personal" USING btree ("user_id");
--> statement-breakpoint
-- A value is what its entry of the log commits to: it can be removed with its person, and not changed.
CREATE TRIGGER "activity_personal_unchanged" BEFORE UPDATE OR TRUNCATE ON "activity_personal"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
ALTER TABLE "activity_personal" ENABLE ALWAYS TRIGGER "activity_personal_unchanged";
