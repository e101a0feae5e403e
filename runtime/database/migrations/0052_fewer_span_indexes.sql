-- Half of what a first sync cost the database was the indexes of its spans: one of associations in place of four, and none
-- of the number that only orders what nothing else orders.
DROP INDEX "association_spans_open";
--> statement-breakpoint
DROP INDEX "association_spans_order";
--> statement-breakpoint
DROP INDEX "association_spans_account";
--> statement-breakpoint
ALTER TABLE "association_spans" DROP CONSTRAINT "association_spans_pkey";
--> statement-breakpoint
ALTER TABLE "account_spans" DROP CONSTRAINT "account_spans_pkey";
--> statement-breakpoint
-- Spans of one pair that end at one moment: a clock that was set back can make them. The longest holds all that they hold.
DELETE FROM "association_spans" s USING "association_spans" longest
WHERE s."until" IS NOT NULL AND longest."until" = s."until" AND longest."domain_id" = s."domain_id"
	AND longest."app_id" = s."app_id" AND longest."account_id" = s."account_id"
	AND longest."entitlement_id" = s."entitlement_id" AND (longest."since", longest."id") < (s."since", s."id");
--> statement-breakpoint
ALTER TABLE "association_spans" ADD CONSTRAINT "association_spans_held" UNIQUE NULLS NOT DISTINCT("domain_id","app_id","account_id","entitlement_id","until");
