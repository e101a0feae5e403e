CREATE TABLE "shared_answers" (
	"key" text PRIMARY KEY NOT NULL,
	"finder" uuid NOT NULL,
	"answer" "bytea",
	"until" timestamp with time zone NOT NULL
);
