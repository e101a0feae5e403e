/**
 * Notices that the npm which started a command is gone. `npm start` and `npx keyway` put a shell between, which ends at
 * SIGTERM and passes it on to nobody: without this the server and its database would stay.
 */

/** How often is looked, in milliseconds. */
const LOOK_MS = 500

/**
 * Calls `onGone` once when the parent process has ended, where npm started it. Of what a person or a script sent into
 * the background nothing is expected: that outlives its shell.
 */
export function watchLauncher(
  onGone: () => void,
  env: NodeJS.ProcessEnv = process.env,
  parent: () => number = () => process.ppid,
): () => void {
  if (env['npm_lifecycle_event'] === undefined) return () => {}
  const begun = parent()
  const timer = setInterval(() => {
    if (parent() === begun) return
    clearInterval(timer)
    onGone()
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
