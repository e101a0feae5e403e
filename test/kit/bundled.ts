/**
 * Programs that tests run as processes of their own, each as one file: to load its sources one by one takes seven times
 * the processor time. In the same place each time, where Node finds what it has compiled of it.
 */
import path from 'node:path'
import { bundleProgram } from '../../scripts/bundle.ts'

const FOLDER = path.join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'keyway-tests')

/** Makes one file of a program, which its first source names; the answer is that file. */
export const bundled = (entry: string): Promise<string> => bundleProgram(entry, FOLDER)
