CREATE TABLE "access_policies" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"name" text NOT NULL,
	"business_justification" text NOT NULL,
	"status" text NOT NULL,
	"is_enabled" boolean NOT NULL,
	"is_everyone" boolean NOT NULL,
	"condition" jsonb,
	"apps" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_policies" ADD CONSTRAINT "access_policies_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_policies_order" ON "access_policies" USING btree ("domain_id","created_at","id");
--> statement-breakpoint
SELECT track_changes('access_policies');
