-- Apps that were connected before tokens were renewed: each is looked at once, and has a plan from then on.
INSERT INTO "token_renewals" ("app_id", "domain_id", "renew_at")
SELECT "id", "domain_id", now() FROM "apps" WHERE "sealed_connection" IS NOT NULL
ON CONFLICT DO NOTHING;
