/** The path of Prometheus' promtool, or null if it is not installed (Debian: prometheus). */
import { existsSync } from 'node:fs'
import path from 'node:path'

export const PROMTOOL: string | null =
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'promtool'))
    .find((file) => existsSync(file)) ?? null
