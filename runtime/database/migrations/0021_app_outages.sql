CREATE TABLE "app_outages" (
	"app_id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone NOT NULL,
	"attempts" integer DEFAULT 1 NOT NULL,
	"code" text NOT NULL,
	"problem" text NOT NULL,
	"task_id" uuid
);
--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "app_outages" ADD CONSTRAINT "app_outages_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "app_outages" ADD CONSTRAINT "app_outages_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;