ALTER TABLE "access_review_apps" ADD COLUMN "second_reviewers" text;--> statement-breakpoint
ALTER TABLE "access_review_items" ADD COLUMN "kept_by_id" uuid;--> statement-breakpoint
ALTER TABLE "access_reviews" ADD COLUMN "second_reviewers" text;--> statement-breakpoint
ALTER TABLE "access_reviews" ADD COLUMN "second_user_ids" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "access_reviews" ADD COLUMN "second_group_ids" uuid[] DEFAULT '{}' NOT NULL;