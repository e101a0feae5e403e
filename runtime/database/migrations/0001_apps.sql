CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"account_type" text DEFAULT 'USER' NOT NULL,
	"status" text,
	"unique_identifier" text NOT NULL,
	"email" text,
	"user_id" uuid,
	"discovered_at" timestamp with time zone,
	"last_login" timestamp with time zone,
	"last_activity" timestamp with time zone,
	"sources" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "apps" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_class_id" text NOT NULL,
	"instance_id" text NOT NULL,
	"connector_id" text,
	"name" text NOT NULL,
	"defaults" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"overrides" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'APPROVED' NOT NULL,
	"sources" text[] DEFAULT '{}' NOT NULL,
	"connection_source" text DEFAULT 'API' NOT NULL,
	"custom_attributes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"sealed_connection" "bytea",
	"disconnected_at" timestamp with time zone,
	"admin_user_ids" uuid[] DEFAULT '{}' NOT NULL,
	"admin_group_ids" uuid[] DEFAULT '{}' NOT NULL,
	"allow_multiple_permission_selection" boolean DEFAULT false NOT NULL,
	"sync_status" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_identifier" ON "accounts" USING btree ("app_id","unique_identifier");--> statement-breakpoint
CREATE INDEX "accounts_order" ON "accounts" USING btree ("domain_id","app_id","unique_identifier","id");--> statement-breakpoint
CREATE INDEX "accounts_user" ON "accounts" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_instance" ON "apps" USING btree ("domain_id","app_class_id","instance_id");--> statement-breakpoint
CREATE INDEX "apps_order" ON "apps" USING btree ("domain_id","name","id");--> statement-breakpoint
CREATE INDEX "apps_admins" ON "apps" USING gin ("admin_user_ids");--> statement-breakpoint
CREATE INDEX "apps_admin_groups" ON "apps" USING gin ("admin_group_ids");