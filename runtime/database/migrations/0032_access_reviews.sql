CREATE TABLE "access_review_acts" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"review_id" uuid NOT NULL,
	"user_id" uuid,
	"decision" text NOT NULL,
	"reason" text,
	"filter" jsonb,
	"items" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_review_apps" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"review_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"review_type" text NOT NULL,
	"status" text NOT NULL,
	"scope_filters" jsonb,
	"removal_action" text DEFAULT 'DEPROVISION' NOT NULL,
	"evidence_upload" text DEFAULT 'DEFAULT' NOT NULL,
	"population" jsonb,
	"account_count" integer,
	"fresh_run" bigint,
	"seen_run" bigint,
	"problem" text,
	"launched_at" timestamp with time zone,
	"removal_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"wake_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_review_assignments" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"arda_id" uuid NOT NULL,
	"user_ids" uuid[] DEFAULT '{}' NOT NULL,
	"group_ids" uuid[] DEFAULT '{}' NOT NULL,
	"task_id" uuid,
	"why" text NOT NULL,
	"by_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_review_decisions" (
	"act_id" uuid NOT NULL,
	"item_id" uuid NOT NULL,
	CONSTRAINT "access_review_decisions_act_id_item_id_pk" PRIMARY KEY("act_id","item_id")
);
--> statement-breakpoint
CREATE TABLE "access_review_items" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"place" bigserial NOT NULL,
	"review_id" uuid NOT NULL,
	"arda_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"state" text DEFAULT 'OPEN' NOT NULL,
	"assignment_id" uuid,
	"involved" uuid[] DEFAULT '{}' NOT NULL,
	"account_id" uuid NOT NULL,
	"entitlement_id" bigint,
	"account" text NOT NULL,
	"account_type" text NOT NULL,
	"account_status" text,
	"account_email" text,
	"user_id" uuid,
	"user_email" text,
	"user_name" text,
	"entitlement_type" text,
	"external_id" text,
	"resource_id" text,
	"resource_type" text,
	"label" text,
	"held_since" timestamp with time zone,
	"last_login" timestamp with time zone,
	"last_activity" timestamp with time zone,
	"reasons" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"hints" text[] DEFAULT '{}' NOT NULL,
	"act_id" uuid,
	"reason" text,
	"decided_by_id" uuid,
	"decided_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp with time zone,
	"problem" text,
	"task_id" uuid,
	"sent_at" timestamp with time zone,
	"gone_at" timestamp with time zone,
	"gone_run" bigint,
	"wake_at" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_reviews" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"creation_path" text DEFAULT 'API' NOT NULL,
	"owner_id" uuid,
	"created_by_id" uuid,
	"deadline_at" timestamp with time zone NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"target_launch_date" timestamp with time zone,
	"recurrence_config" jsonb,
	"recurrence_days_frequency" integer,
	"follows_id" uuid,
	"next_at" timestamp with time zone,
	"reviewers" text DEFAULT 'MANAGERS' NOT NULL,
	"reviewer_user_ids" uuid[] DEFAULT '{}' NOT NULL,
	"reviewer_group_ids" uuid[] DEFAULT '{}' NOT NULL,
	"on_deadline" text DEFAULT 'LEAVE' NOT NULL,
	"closed_at" timestamp with time zone,
	"reminded_at" timestamp with time zone,
	"wake_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_review_acts" ADD CONSTRAINT "access_review_acts_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_acts" ADD CONSTRAINT "access_review_acts_review_id_access_reviews_id_fk" FOREIGN KEY ("review_id") REFERENCES "public"."access_reviews"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_acts" ADD CONSTRAINT "access_review_acts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_apps" ADD CONSTRAINT "access_review_apps_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_apps" ADD CONSTRAINT "access_review_apps_review_id_access_reviews_id_fk" FOREIGN KEY ("review_id") REFERENCES "public"."access_reviews"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_apps" ADD CONSTRAINT "access_review_apps_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_assignments" ADD CONSTRAINT "access_review_assignments_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_assignments" ADD CONSTRAINT "access_review_assignments_arda_id_access_review_apps_id_fk" FOREIGN KEY ("arda_id") REFERENCES "public"."access_review_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_assignments" ADD CONSTRAINT "access_review_assignments_by_id_users_id_fk" FOREIGN KEY ("by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_decisions" ADD CONSTRAINT "access_review_decisions_act_id_access_review_acts_id_fk" FOREIGN KEY ("act_id") REFERENCES "public"."access_review_acts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_decisions" ADD CONSTRAINT "access_review_decisions_item_id_access_review_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "public"."access_review_items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_items" ADD CONSTRAINT "access_review_items_arda_id_access_review_apps_id_fk" FOREIGN KEY ("arda_id") REFERENCES "public"."access_review_apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_reviews" ADD CONSTRAINT "access_reviews_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_reviews" ADD CONSTRAINT "access_reviews_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_reviews" ADD CONSTRAINT "access_reviews_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_review_acts_review" ON "access_review_acts" USING btree ("review_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "access_review_apps_app" ON "access_review_apps" USING btree ("review_id","app_id") WHERE status <> 'DELETED';--> statement-breakpoint
CREATE INDEX "access_review_apps_wake" ON "access_review_apps" USING btree ("wake_at") WHERE "access_review_apps"."wake_at" is not null;--> statement-breakpoint
CREATE INDEX "access_review_apps_live" ON "access_review_apps" USING btree ("app_id") WHERE status in ('IN_PREPARATION', 'IN_PROGRESS', 'WAITING_FOR_MANUAL_ACTION');--> statement-breakpoint
CREATE INDEX "access_review_assignments_arda" ON "access_review_assignments" USING btree ("arda_id");--> statement-breakpoint
CREATE INDEX "access_review_assignments_task" ON "access_review_assignments" USING btree ("task_id") WHERE "access_review_assignments"."task_id" is not null;--> statement-breakpoint
CREATE INDEX "access_review_decisions_item" ON "access_review_decisions" USING btree ("item_id");--> statement-breakpoint
CREATE INDEX "access_review_items_order" ON "access_review_items" USING btree ("review_id","place");--> statement-breakpoint
CREATE INDEX "access_review_items_state" ON "access_review_items" USING btree ("arda_id","state","place");--> statement-breakpoint
CREATE INDEX "access_review_items_assignment" ON "access_review_items" USING btree ("assignment_id","state");--> statement-breakpoint
CREATE INDEX "access_review_items_account" ON "access_review_items" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "access_review_items_user" ON "access_review_items" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "access_review_items_wake" ON "access_review_items" USING btree ("arda_id","wake_at") WHERE "access_review_items"."wake_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "access_reviews_name" ON "access_reviews" USING btree ("domain_id",lower("name")) WHERE status <> 'DELETED';--> statement-breakpoint
CREATE INDEX "access_reviews_order" ON "access_reviews" USING btree ("domain_id","created_at","id");--> statement-breakpoint
CREATE INDEX "access_reviews_wake" ON "access_reviews" USING btree ("wake_at") WHERE "access_reviews"."wake_at" is not null;--> statement-breakpoint
CREATE INDEX "access_reviews_done" ON "access_reviews" USING btree ("updated_at","id") WHERE wake_at is null;--> statement-breakpoint
CREATE INDEX "access_reviews_next" ON "access_reviews" USING btree ("next_at") WHERE "access_reviews"."next_at" is not null;--> statement-breakpoint
SELECT track_changes('access_reviews');
--> statement-breakpoint
SELECT track_changes('access_review_apps');
--> statement-breakpoint
SELECT track_changes('access_review_assignments');
--> statement-breakpoint
SELECT track_changes('access_review_items');
