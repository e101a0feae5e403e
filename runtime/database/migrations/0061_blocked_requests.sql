ALTER TABLE "access_requests" ADD COLUMN "is_blocked" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "access_requests_blocked" ON "access_requests" USING btree ("domain_id","target_user_id","id") WHERE "access_requests"."is_blocked";
--> statement-breakpoint
-- What a rule denied before: its words are the only sign of it.
UPDATE "access_requests" SET "is_blocked" = true WHERE "status" = 'DENIED' AND "policy_for" IS NOT NULL AND "notes" ->> 'DENIED' LIKE 'The person must not hold this together%';
