-- What is held is written once: an association is its own open span, since the run that saw it first was recorded. Those that
-- are there keep the open spans that they have.
ALTER TABLE "associations" ADD COLUMN "first_run" bigint;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD COLUMN "recorded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD COLUMN "recorded_by" bigint;
