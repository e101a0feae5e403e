/** An upload between its request and its job. */
import type { uploads } from '../../database/schema/uploads.ts'

/** An upload that waits, with its rows as the stored text. */
export type KeptUpload = Omit<typeof uploads.$inferSelect, 'body'> & { text: string }

/** Outcome of an upload: counts for the log, or `problem` if nothing of it was applied. */
export type UploadOutcome = { problem?: string } & Record<string, unknown>
