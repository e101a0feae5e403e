/** An upload between its request and its job. */
import type { uploads } from '../../database/schema/uploads.ts'

/** An upload that waits: its rows as the text that they are kept as. */
export type KeptUpload = Omit<typeof uploads.$inferSelect, 'body'> & { text: string }

/** What an upload came to: counts for the log; `problem` where nothing of it was done. */
export type UploadOutcome = { problem?: string } & Record<string, unknown>
