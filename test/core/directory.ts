/** A sample directory that can go away and come back, and what connects an app to it. */
import { type SampleDirectory, startSampleDirectory } from '../../runtime/sample/scim-server.ts'

export type Directory = {
  /** Host and port, for the grant. */
  host: string
  /** Body of POST /apps, with the right token. */
  app: { app_class_id: string; auth: { token: string }; settings: { base_url: string } }
  close(): Promise<void>
}

export async function startDirectory(): Promise<Directory> {
  const sample: SampleDirectory = await startSampleDirectory({})
  return {
    host: new URL(sample.baseUrl).host,
    app: {
      app_class_id: 'scim',
      auth: { token: 'sample-token' },
      settings: { base_url: sample.baseUrl },
    },
    close: sample.close,
  }
}
