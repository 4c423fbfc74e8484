/**
 * An event's data without secrets, keys and the IP addresses of callers, which are detected by the names of members and the form of texts.
 * IP addresses in the configuration of a flag are not removed. Returns the same value if there is nothing to remove.
 */
export declare const withoutSecrets: (value: unknown) => unknown;
/** The text of a scalar; undefined for an empty text, an object or null. */
export declare const scalarText: (value: unknown) => string | undefined;
/** The text of a scalar member. */
export declare const memberText: (value: unknown, key: string) => string | undefined;
/** The list in a member; empty if the member is no list. */
export declare const listMember: (value: unknown, key: string) => readonly unknown[];
