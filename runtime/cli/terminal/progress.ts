/** Shows progress in one line on a terminal. Prints nothing elsewhere. */

/** Minimum time between two updates, in milliseconds. */
const EVERY_MS = 100

type ProgressLine = { show(text: string): void; clear(): void }

export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  let shownMs = 0
  return {
    show(text) {
      const nowMs = performance.now()
      if (!stream.isTTY || nowMs - shownMs < EVERY_MS) return
      shownMs = nowMs
      stream.write(`\r\x1b[2K${text}`)
    },
    clear() {
      if (stream.isTTY) stream.write('\r\x1b[2K')
    },
  }
}

/** Formats a size as `12.3 MB`, or as `48.9 kB` if it would be 0.0 MB. */
export const megabytes = (bytes: number): string =>
  bytes > 0 && bytes < 50_000 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
