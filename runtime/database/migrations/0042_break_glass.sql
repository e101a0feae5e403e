CREATE TABLE "break_glass" (
	"id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"group_ids" uuid[] NOT NULL,
	"max_minutes" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "is_break_glass" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "break_glass" ADD CONSTRAINT "break_glass_id_requestable_permissions_id_fk" FOREIGN KEY ("id") REFERENCES "public"."requestable_permissions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "break_glass" ADD CONSTRAINT "break_glass_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "break_glass" ADD CONSTRAINT "break_glass_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "break_glass_order" ON "break_glass" USING btree ("domain_id","created_at","id");--> statement-breakpoint
CREATE INDEX "break_glass_app" ON "break_glass" USING btree ("app_id");--> statement-breakpoint
SELECT track_changes('break_glass');
