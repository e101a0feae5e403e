/** Why a file that was named cannot be used, for a person: never the system's bare words. */
import { ConfigError } from '../config.ts'

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'it is not yours to read or write',
  EPERM: 'it is not yours to read or write',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
  EROFS: 'its place can only be read',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
}

/** `hint` says what to name in its place, such as `name the .pub that keyway keygen wrote`. */
export function fileFault(file: string, error: unknown, hint: string): ConfigError {
  const { code = '', message } = error as NodeJS.ErrnoException
  const words =
    code === 'ENOENT'
      ? `there is no file ${file}`
      : `${file} cannot be used: ${WORDS[code] ?? message}`
  return new ConfigError(`${words}; ${hint}`, { cause: error })
}

/** Whether it is one of those that `fileFault` has words for. */
export const isFileFault = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || (code !== undefined && code in WORDS)
}
