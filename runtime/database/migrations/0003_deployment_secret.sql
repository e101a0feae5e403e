CREATE TABLE "deployment_secret" (
	"name" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL
);
