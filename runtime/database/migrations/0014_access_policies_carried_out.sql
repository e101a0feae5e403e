CREATE TABLE "offboarding_steps" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"offboarding_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"account" text NOT NULL,
	"state" text DEFAULT 'todo' NOT NULL,
	"task_id" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"wake_at" timestamp with time zone DEFAULT now() NOT NULL,
	"problem" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_offboardings" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"status" text NOT NULL,
	"scheduled_at" timestamp with time zone,
	"cancelled_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"wake_at" timestamp with time zone,
	"problem" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "policy_wants" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"wake_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_policies" ADD COLUMN "deleted_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "access_policies" ADD COLUMN "swept_to" uuid;--> statement-breakpoint
ALTER TABLE "access_policies" ADD COLUMN "sweep" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "access_policies" ADD COLUMN "swept" jsonb DEFAULT '{"users":0,"given":0,"taken":0}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "access_policies" ADD COLUMN "problem" text;--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "policy_for" uuid;--> statement-breakpoint
ALTER TABLE "offboarding_steps" ADD CONSTRAINT "offboarding_steps_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offboarding_steps" ADD CONSTRAINT "offboarding_steps_offboarding_id_user_offboardings_id_fk" FOREIGN KEY ("offboarding_id") REFERENCES "public"."user_offboardings"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offboarding_steps" ADD CONSTRAINT "offboarding_steps_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_offboardings" ADD CONSTRAINT "user_offboardings_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_offboardings" ADD CONSTRAINT "user_offboardings_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policy_wants" ADD CONSTRAINT "policy_wants_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policy_wants" ADD CONSTRAINT "policy_wants_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "offboarding_steps_account" ON "offboarding_steps" USING btree ("offboarding_id","app_id",md5("account"));--> statement-breakpoint
CREATE UNIQUE INDEX "user_offboardings_open" ON "user_offboardings" USING btree ("user_id") WHERE status in ('SCHEDULED', 'IN_PROGRESS');--> statement-breakpoint
CREATE INDEX "user_offboardings_wake" ON "user_offboardings" USING btree ("wake_at") WHERE "user_offboardings"."wake_at" is not null;--> statement-breakpoint
CREATE INDEX "policy_wants_wake" ON "policy_wants" USING btree ("wake_at");--> statement-breakpoint
CREATE UNIQUE INDEX "access_requests_policy_for" ON "access_requests" USING btree ("policy_id","target_user_id","policy_for") WHERE "access_requests"."policy_for" is not null;
--> statement-breakpoint
-- Policies that were published before gave nothing: that they begin to waits for an admin (core/paused.ts).
UPDATE "access_policies" SET "is_enabled" = false, "problem" = 'paused by an upgrade' WHERE "status" = 'PUBLISHED' AND "is_enabled";
