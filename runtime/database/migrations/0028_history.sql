CREATE TABLE "account_spans" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone,
	"first_run" bigint,
	"last_run" bigint,
	"gone_run" bigint,
	"app_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"user_id" uuid,
	"unique_identifier" text NOT NULL,
	"account_type" text NOT NULL,
	"status" text,
	"email" text
);
--> statement-breakpoint
CREATE TABLE "association_spans" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone,
	"first_run" bigint,
	"last_run" bigint,
	"gone_run" bigint,
	"app_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"entitlement_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "history_start" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "member_spans" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone,
	"first_run" bigint,
	"last_run" bigint,
	"gone_run" bigint,
	"group_id" uuid NOT NULL,
	"user_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reason_spans" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone,
	"user_id" uuid NOT NULL,
	"request_id" uuid NOT NULL,
	"policy_id" uuid,
	"app_id" uuid NOT NULL,
	"carried_app_id" uuid NOT NULL,
	"label" text,
	"entitlement" jsonb
);
--> statement-breakpoint
CREATE UNIQUE INDEX "account_spans_open" ON "account_spans" USING btree ("account_id") WHERE "account_spans"."until" is null;--> statement-breakpoint
CREATE INDEX "account_spans_order" ON "account_spans" USING btree ("domain_id","app_id","unique_identifier","since","id");--> statement-breakpoint
CREATE INDEX "account_spans_user" ON "account_spans" USING btree ("user_id","since");--> statement-breakpoint
CREATE INDEX "account_spans_ended" ON "account_spans" USING btree ("until","id") WHERE "account_spans"."until" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "association_spans_open" ON "association_spans" USING btree ("account_id","entitlement_id") WHERE "association_spans"."until" is null;--> statement-breakpoint
CREATE INDEX "association_spans_order" ON "association_spans" USING btree ("domain_id","app_id","account_id","entitlement_id","since","id");--> statement-breakpoint
CREATE INDEX "association_spans_account" ON "association_spans" USING btree ("account_id","since");--> statement-breakpoint
CREATE INDEX "association_spans_ended" ON "association_spans" USING btree ("until","id") WHERE "association_spans"."until" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "member_spans_open" ON "member_spans" USING btree ("group_id","user_id") WHERE "member_spans"."until" is null;--> statement-breakpoint
CREATE INDEX "member_spans_user" ON "member_spans" USING btree ("user_id","since");--> statement-breakpoint
CREATE INDEX "member_spans_ended" ON "member_spans" USING btree ("until","id") WHERE "member_spans"."until" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "reason_spans_open" ON "reason_spans" USING btree ("request_id") WHERE "reason_spans"."until" is null;--> statement-breakpoint
CREATE INDEX "reason_spans_user" ON "reason_spans" USING btree ("user_id","since");--> statement-breakpoint
CREATE INDEX "reason_spans_ended" ON "reason_spans" USING btree ("until","id") WHERE "reason_spans"."until" is not null;
--> statement-breakpoint
-- What is held now is known since now.
INSERT INTO "history_start" ("since") VALUES (date_trunc('milliseconds', now()));
--> statement-breakpoint
INSERT INTO "account_spans" ("domain_id", "since", "app_id", "account_id", "user_id", "unique_identifier", "account_type", "status", "email")
SELECT "domain_id", date_trunc('milliseconds', now()), "app_id", "id", "user_id", "unique_identifier", "account_type", "status", "email"
FROM "accounts" WHERE "gone_at" IS NULL;
--> statement-breakpoint
INSERT INTO "association_spans" ("domain_id", "since", "app_id", "account_id", "entitlement_id")
SELECT a."domain_id", date_trunc('milliseconds', now()), s."app_id", s."account_id", s."entitlement_id"
FROM "associations" s JOIN "accounts" a ON a."id" = s."account_id";
--> statement-breakpoint
INSERT INTO "member_spans" ("domain_id", "since", "group_id", "user_id")
SELECT "domain_id", date_trunc('milliseconds', now()), "group_id", "user_id" FROM "group_members";
--> statement-breakpoint
INSERT INTO "reason_spans" ("domain_id", "since", "user_id", "request_id", "policy_id", "app_id", "carried_app_id", "label", "entitlement")
SELECT "domain_id", date_trunc('milliseconds', now()), "target_user_id", "id", "policy_id", "app_id", "carried_app_id", "label", "entitlement"
FROM "access_requests" WHERE "status" IN
	('PROVISIONED', 'COMPLETED', 'PENDING_DEPROVISIONING', 'PENDING_MANUAL_DEPROVISIONING', 'REVERTING');
