/**
 * Notices when the npm that started a command has exited. `npm start` and `npx keyway` run the command in a
 * shell, which exits at SIGTERM without passing it on. Without this, the server and its database would keep
 * running.
 */

/** Interval between two checks, in milliseconds. */
const LOOK_MS = 500

/**
 * Calls `onGone` once after the parent process has exited, if npm started this process. A process that a
 * person or a script put into the background is not watched, because it is meant to outlive its shell.
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
