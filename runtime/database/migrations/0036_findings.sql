CREATE TABLE "finding_looks" (
	"subject" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"wake_at" timestamp with time zone DEFAULT now() NOT NULL,
	"looked_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "findings" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"severity" text NOT NULL,
	"state" text DEFAULT 'OPEN' NOT NULL,
	"subject" text NOT NULL,
	"app_id" uuid,
	"account_id" uuid,
	"user_id" uuid,
	"entitlement_id" bigint,
	"rule_id" uuid,
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"opened_run" bigint,
	"resolved_at" timestamp with time zone,
	"resolved_run" bigint,
	"accepted_at" timestamp with time zone,
	"accepted_until" timestamp with time zone,
	"accepted_by_id" uuid,
	"reason" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "separation_rules" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"on_request" text DEFAULT 'WARN' NOT NULL,
	"left_side" jsonb NOT NULL,
	"right_side" jsonb NOT NULL,
	"approver_user_ids" uuid[] DEFAULT '{}' NOT NULL,
	"approver_group_ids" uuid[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "finding_looks" ADD CONSTRAINT "finding_looks_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_accepted_by_id_users_id_fk" FOREIGN KEY ("accepted_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "separation_rules" ADD CONSTRAINT "separation_rules_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "finding_looks_wake" ON "finding_looks" USING btree ("wake_at");--> statement-breakpoint
CREATE UNIQUE INDEX "findings_subject" ON "findings" USING btree ("domain_id","kind","subject") WHERE "findings"."resolved_at" is null;--> statement-breakpoint
CREATE INDEX "findings_order" ON "findings" USING btree ("domain_id","opened_at","id");--> statement-breakpoint
CREATE INDEX "findings_app" ON "findings" USING btree ("app_id","opened_at","id");--> statement-breakpoint
CREATE INDEX "findings_account" ON "findings" USING btree ("account_id") WHERE "findings"."resolved_at" is null;--> statement-breakpoint
CREATE INDEX "findings_user" ON "findings" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "findings_accepted" ON "findings" USING btree ("accepted_until") WHERE "findings"."accepted_until" is not null;--> statement-breakpoint
CREATE INDEX "findings_done" ON "findings" USING btree ("resolved_at","id") WHERE "findings"."resolved_at" is not null;--> statement-breakpoint
CREATE INDEX "separation_rules_order" ON "separation_rules" USING btree ("domain_id","created_at","id");--> statement-breakpoint
SELECT track_changes('findings');
--> statement-breakpoint
SELECT track_changes('separation_rules');
