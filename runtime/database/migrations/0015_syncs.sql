CREATE TABLE "associations" (
	"app_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"entitlement_id" bigint NOT NULL,
	"seen_run" bigint NOT NULL,
	CONSTRAINT "associations_app_id_account_id_entitlement_id_pk" PRIMARY KEY("app_id","account_id","entitlement_id")
);
--> statement-breakpoint
CREATE TABLE "entitlements" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"entitlement_type" text NOT NULL,
	"resource_id" text NOT NULL,
	"external_id" text NOT NULL,
	"label" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"is_assignable" boolean NOT NULL,
	"seen_run" bigint NOT NULL,
	"gone_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "identity_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"detected_at" timestamp with time zone DEFAULT now() NOT NULL,
	"changed_field" text NOT NULL,
	"old_value" text,
	"new_value" text
);
--> statement-breakpoint
CREATE TABLE "resources" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	"external_id" text NOT NULL,
	"label" text NOT NULL,
	"seen_run" bigint NOT NULL,
	"gone_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "sync_runs" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"user_id" uuid,
	"state" text DEFAULT 'RUNNING' NOT NULL,
	"phase" text DEFAULT 'begin' NOT NULL,
	"page_token" text,
	"cursor" text,
	"restarts" integer DEFAULT 0 NOT NULL,
	"page_size" integer NOT NULL,
	"counts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"skipped" text[] DEFAULT '{}' NOT NULL,
	"accepted" boolean DEFAULT false NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamp with time zone,
	"problem" text,
	"lease_by" uuid,
	"lease_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync_settings" (
	"app_id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"every_hours" integer,
	"page_size" integer,
	"max_rows" bigint,
	"match_rules" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"identity" jsonb,
	"next_at" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD COLUMN "synced_label" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "matched_by" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "given_name" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "family_name" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "attributes" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "seen_run" bigint;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "gone_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "entitlements" ADD CONSTRAINT "entitlements_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "entitlements" ADD CONSTRAINT "entitlements_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_events" ADD CONSTRAINT "identity_events_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_events" ADD CONSTRAINT "identity_events_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resources" ADD CONSTRAINT "resources_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resources" ADD CONSTRAINT "resources_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD CONSTRAINT "sync_runs_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD CONSTRAINT "sync_runs_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_settings" ADD CONSTRAINT "sync_settings_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_settings" ADD CONSTRAINT "sync_settings_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "entitlements_external" ON "entitlements" USING btree ("app_id",md5("resource_id" || chr(1) || "external_id"));--> statement-breakpoint
CREATE INDEX "entitlements_walk" ON "entitlements" USING btree ("app_id","id");--> statement-breakpoint
CREATE INDEX "identity_events_order" ON "identity_events" USING btree ("domain_id","id");--> statement-breakpoint
CREATE INDEX "identity_events_user" ON "identity_events" USING btree ("user_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "resources_external" ON "resources" USING btree ("app_id",md5("external_id"));--> statement-breakpoint
CREATE UNIQUE INDEX "sync_runs_running" ON "sync_runs" USING btree ("app_id") WHERE "sync_runs"."state" = 'RUNNING';--> statement-breakpoint
CREATE INDEX "sync_runs_order" ON "sync_runs" USING btree ("domain_id","id");--> statement-breakpoint
CREATE INDEX "sync_runs_app" ON "sync_runs" USING btree ("app_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "sync_settings_source" ON "sync_settings" USING btree ("domain_id") WHERE "sync_settings"."identity" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "groups_synced" ON "groups" USING btree ("app_id","integration_specific_id") WHERE "groups"."app_id" is not null and "groups"."integration_specific_id" <> '';
--> statement-breakpoint
-- Every sync marks each of their rows: with room in the page that touches no index.
ALTER TABLE "accounts" SET (fillfactor = 80);
--> statement-breakpoint
ALTER TABLE "associations" SET (fillfactor = 80);
--> statement-breakpoint
-- Apps that were connected before were not synced: that they are, by themselves, waits for an admin (core/paused.ts).
INSERT INTO "sync_settings" ("app_id", "domain_id", "every_hours", "next_at")
SELECT "id", "domain_id", 0, 'epoch' FROM "apps" WHERE "sealed_connection" IS NOT NULL;
