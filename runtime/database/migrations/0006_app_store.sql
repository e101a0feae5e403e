CREATE TABLE "app_store_settings" (
	"app_id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"in_app_store" boolean DEFAULT false NOT NULL,
	"discoverability" text DEFAULT 'FULL' NOT NULL,
	"allowed_group_ids" uuid[],
	"document" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "inline_webhooks" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"hook_type" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pre_approval_rules" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"document" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "requestable_permissions" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"type" text DEFAULT 'NATIVE' NOT NULL,
	"label" text NOT NULL,
	"visibility" text DEFAULT 'HIDDEN' NOT NULL,
	"allowed_groups_override" boolean DEFAULT false NOT NULL,
	"allowed_group_ids" uuid[],
	"document" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "app_store_settings" ADD CONSTRAINT "app_store_settings_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "app_store_settings" ADD CONSTRAINT "app_store_settings_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "inline_webhooks" ADD CONSTRAINT "inline_webhooks_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pre_approval_rules" ADD CONSTRAINT "pre_approval_rules_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pre_approval_rules" ADD CONSTRAINT "pre_approval_rules_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD CONSTRAINT "requestable_permissions_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD CONSTRAINT "requestable_permissions_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "app_store_settings_found" ON "app_store_settings" USING btree ("domain_id","discoverability","app_id") WHERE "app_store_settings"."in_app_store";--> statement-breakpoint
CREATE INDEX "inline_webhooks_order" ON "inline_webhooks" USING btree ("domain_id","name","id");--> statement-breakpoint
CREATE INDEX "pre_approval_rules_order" ON "pre_approval_rules" USING btree ("app_id","created_at","id");--> statement-breakpoint
CREATE INDEX "requestable_permissions_order" ON "requestable_permissions" USING btree ("app_id","label","id");--> statement-breakpoint
CREATE INDEX "requestable_permissions_visible" ON "requestable_permissions" USING btree ("app_id","visibility","label","id");--> statement-breakpoint
CREATE INDEX "requestable_permissions_label" ON "requestable_permissions" USING btree ("app_id",lower("label"));