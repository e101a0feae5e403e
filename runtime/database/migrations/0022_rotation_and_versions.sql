CREATE TABLE "deployment_versions" (
	"migrated_to" bigint PRIMARY KEY NOT NULL,
	"version" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "key_ids" jsonb;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD COLUMN "key_id" text;--> statement-breakpoint
ALTER TABLE "login_links" ADD COLUMN "key_id" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "key_id" text;