/** Error messages for files that cannot be used, written for a person instead of the system's error text. */
import { ConfigError } from '../../config/config.ts'
import { codeOf, messageOf } from '../../contract/errors/thrown.ts'

/** Descriptions by errno code. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  EACCES: 'you may not read or write it',
  EPERM: 'you may not read or write it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EROFS: 'it is on a read-only file system',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
}

/**
 * Returns the error for a file. `hint` tells what to pass instead, such as `name the .pub that keyway keygen
 * wrote`.
 */
export function fileFault(file: string, error: unknown, hint: string): ConfigError {
  const code = codeOf(error) ?? ''
  const message = messageOf(error)
  const fault =
    code === 'ENOENT'
      ? `there is no file ${file}`
      : `${file} cannot be used: ${DESCRIPTIONS[code] ?? message}`
  return new ConfigError(`${fault}; ${hint}`, { cause: error })
}

/** Reports whether `fileFault` has a description for this error. */
export const isFileFault = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === 'ENOENT' || (code !== undefined && code in DESCRIPTIONS)
}
