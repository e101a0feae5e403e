CREATE TABLE "access_requests" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"permission_id" uuid,
	"label" text,
	"requester_id" uuid,
	"target_user_id" uuid NOT NULL,
	"policy_id" uuid,
	"status" text NOT NULL,
	"notes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"plan" jsonb NOT NULL,
	"stage" integer DEFAULT 0 NOT NULL,
	"expiration_in_seconds" integer,
	"expires_at" timestamp with time zone,
	"todo" text,
	"how" text,
	"entitlement" jsonb,
	"carried_app_id" uuid NOT NULL,
	"was_there" boolean,
	"attempts" integer DEFAULT 0 NOT NULL,
	"problem" text,
	"wake_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holders" (
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"account" text,
	"made" boolean DEFAULT false NOT NULL,
	"making" boolean DEFAULT false NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "holders_app_id_user_id_pk" PRIMARY KEY("app_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD COLUMN "entitlement_type" text;--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD COLUMN "entitlement_id" text;--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD COLUMN "resource_type" text;--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD COLUMN "resource_id" text;--> statement-breakpoint
ALTER TABLE "requestable_permissions" ADD COLUMN "gone_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_permission_id_requestable_permissions_id_fk" FOREIGN KEY ("permission_id") REFERENCES "public"."requestable_permissions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_requester_id_users_id_fk" FOREIGN KEY ("requester_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_target_user_id_users_id_fk" FOREIGN KEY ("target_user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_policy_id_access_policies_id_fk" FOREIGN KEY ("policy_id") REFERENCES "public"."access_policies"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_carried_app_id_apps_id_fk" FOREIGN KEY ("carried_app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holders" ADD CONSTRAINT "holders_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holders" ADD CONSTRAINT "holders_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holders" ADD CONSTRAINT "holders_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_requests_order" ON "access_requests" USING btree ("domain_id","created_at","id");--> statement-breakpoint
CREATE INDEX "access_requests_target" ON "access_requests" USING btree ("domain_id","target_user_id","created_at");--> statement-breakpoint
CREATE INDEX "access_requests_requester" ON "access_requests" USING btree ("domain_id","requester_id","created_at");--> statement-breakpoint
CREATE INDEX "access_requests_status" ON "access_requests" USING btree ("domain_id","status","created_at");--> statement-breakpoint
CREATE INDEX "access_requests_pair" ON "access_requests" USING btree ("carried_app_id","target_user_id","status");--> statement-breakpoint
CREATE INDEX "access_requests_permission" ON "access_requests" USING btree ("permission_id");--> statement-breakpoint
CREATE INDEX "access_requests_policy" ON "access_requests" USING btree ("policy_id","target_user_id");--> statement-breakpoint
CREATE INDEX "access_requests_wake" ON "access_requests" USING btree ("wake_at") WHERE "access_requests"."wake_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "requestable_permissions_entitlement" ON "requestable_permissions" USING btree ("app_id",md5("entitlement_type" || chr(1) || "resource_id" || chr(1) || "entitlement_id")) WHERE "requestable_permissions"."entitlement_id" is not null;--> statement-breakpoint
SELECT track_changes('access_requests');
