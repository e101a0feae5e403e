DROP INDEX "login_links_expires";--> statement-breakpoint
DROP INDEX "sessions_expires";--> statement-breakpoint
DROP INDEX "uploads_finished";--> statement-breakpoint
CREATE INDEX "offboarding_steps_task" ON "offboarding_steps" USING btree ("task_id") WHERE "offboarding_steps"."task_id" is not null;--> statement-breakpoint
CREATE INDEX "user_offboardings_done" ON "user_offboardings" USING btree ("updated_at","id") WHERE wake_at is null;--> statement-breakpoint
CREATE INDEX "shared_answers_until" ON "shared_answers" USING btree ("until","key");--> statement-breakpoint
CREATE INDEX "api_tokens_done" ON "api_tokens" USING btree (least(revoked_at, expires_at),"id") WHERE not operator;--> statement-breakpoint
CREATE INDEX "access_requests_done" ON "access_requests" USING btree ("updated_at","id") WHERE todo is null and wake_at is null and status <> 'COMPLETED';--> statement-breakpoint
CREATE INDEX "holders_left_by" ON "holders" USING btree ("left_by") WHERE "holders"."left_by" is not null;--> statement-breakpoint
CREATE INDEX "login_links_token" ON "login_links" USING btree ("token_id") WHERE "login_links"."token_id" is not null;--> statement-breakpoint
CREATE INDEX "sessions_token" ON "sessions" USING btree ("token_id") WHERE "sessions"."token_id" is not null;--> statement-breakpoint
CREATE INDEX "sync_runs_ended" ON "sync_runs" USING btree ("ended_at","id") WHERE "sync_runs"."ended_at" is not null;--> statement-breakpoint
CREATE INDEX "tasks_done" ON "tasks" USING btree ("updated_at","id") WHERE status not in ('PENDING', 'ACCEPTED', 'BLOCKED', 'STAGED');--> statement-breakpoint
CREATE INDEX "login_links_expires" ON "login_links" USING btree ("expires_at","id");--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "sessions" USING btree ("expires_at","id");--> statement-breakpoint
CREATE INDEX "uploads_finished" ON "uploads" USING btree ("finished_at","id") WHERE "uploads"."finished_at" is not null;