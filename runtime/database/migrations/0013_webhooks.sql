CREATE TABLE "token_renewals" (
	"app_id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"renew_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"problem" text
);
--> statement-breakpoint
CREATE TABLE "uploads" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"app_id" uuid,
	"user_id" uuid NOT NULL,
	"body" jsonb,
	"state" text DEFAULT 'NOT_STARTED' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "event_feeds" (
	"webhook_id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"delivered_id" bigint NOT NULL,
	"failing_since" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp with time zone,
	"problem" text,
	"told_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "inline_webhooks" ADD COLUMN "url" text;--> statement-breakpoint
ALTER TABLE "inline_webhooks" ADD COLUMN "header_names" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "inline_webhooks" ADD COLUMN "sealed" "bytea";--> statement-breakpoint
ALTER TABLE "inline_webhooks" ADD COLUMN "enabled" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "uploaded" jsonb;--> statement-breakpoint
ALTER TABLE "token_renewals" ADD CONSTRAINT "token_renewals_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_renewals" ADD CONSTRAINT "token_renewals_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_feeds" ADD CONSTRAINT "event_feeds_webhook_id_inline_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."inline_webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_feeds" ADD CONSTRAINT "event_feeds_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "token_renewals_due" ON "token_renewals" USING btree ("renew_at");--> statement-breakpoint
CREATE INDEX "uploads_open" ON "uploads" USING btree ("created_at") WHERE "uploads"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "uploads_finished" ON "uploads" USING btree ("finished_at") WHERE "uploads"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX "event_feeds_next" ON "event_feeds" USING btree ("next_try_at");