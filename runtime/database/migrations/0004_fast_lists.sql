CREATE TABLE "table_changes" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"table_name" text NOT NULL,
	"domain_id" uuid NOT NULL,
	"changes" bigint NOT NULL,
	"rows" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deployment_secret" (
	"name" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "search_text" text GENERATED ALWAYS AS (lower(email) || chr(1) || lower(given_name || ' ' || family_name)) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "table_changes_table" ON "table_changes" USING btree ("table_name","domain_id");--> statement-breakpoint
CREATE INDEX "users_name" ON "users" USING hash (lower(given_name || ' ' || family_name));--> statement-breakpoint
CREATE INDEX "tasks_type" ON "tasks" USING btree ("domain_id","task_type","id");--> statement-breakpoint
CREATE INDEX "tasks_app" ON "tasks" USING btree ("domain_id","app_id","id");--> statement-breakpoint
CREATE INDEX "tasks_target" ON "tasks" USING btree ("domain_id","target_user_id","id");