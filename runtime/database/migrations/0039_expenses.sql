CREATE TABLE "expenses" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"external_id" text NOT NULL,
	"transaction_date" timestamp with time zone NOT NULL,
	"amount" numeric(20, 6),
	"currency" text,
	"seller" text,
	"description" text DEFAULT '' NOT NULL,
	"submitter" text,
	"user_id" uuid,
	"type" text NOT NULL,
	"seen_run" bigint NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "licence_prices" (
	"entitlement_id" bigint PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"app_id" uuid NOT NULL,
	"amount" numeric(20, 6) NOT NULL,
	"currency" text NOT NULL,
	"period" text NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "expenses" ADD CONSTRAINT "expenses_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "expenses" ADD CONSTRAINT "expenses_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "expenses" ADD CONSTRAINT "expenses_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "licence_prices" ADD CONSTRAINT "licence_prices_entitlement_id_entitlements_id_fk" FOREIGN KEY ("entitlement_id") REFERENCES "public"."entitlements"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "licence_prices" ADD CONSTRAINT "licence_prices_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "licence_prices" ADD CONSTRAINT "licence_prices_app_id_apps_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "expenses_external" ON "expenses" USING btree ("app_id",md5("external_id"));--> statement-breakpoint
CREATE INDEX "expenses_order" ON "expenses" USING btree ("domain_id","transaction_date","id");--> statement-breakpoint
CREATE INDEX "expenses_app" ON "expenses" USING btree ("app_id","transaction_date");--> statement-breakpoint
CREATE INDEX "expenses_user" ON "expenses" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "expenses_done" ON "expenses" USING btree ("transaction_date","id");--> statement-breakpoint
SELECT track_changes('expenses');
--> statement-breakpoint
SELECT track_changes('licence_prices');
