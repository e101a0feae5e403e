/** A JSON value: what may cross the sandbox's wall. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
