DROP INDEX "access_requests_status";--> statement-breakpoint
CREATE INDEX "access_requests_app" ON "access_requests" USING btree ("app_id");--> statement-breakpoint
CREATE INDEX "access_requests_status" ON "access_requests" USING btree ("domain_id","status","created_at","id");