ALTER TABLE "access_review_items" ADD COLUMN "peers_held" integer;--> statement-breakpoint
ALTER TABLE "access_review_items" ADD COLUMN "peers_of" integer;