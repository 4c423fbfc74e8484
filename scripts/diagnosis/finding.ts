/** The result of one check, with the remedy of a problem. */
export interface Finding {
  readonly component: string;
  readonly text: string;
  readonly isProblem: boolean;
}

export function passedCheck(component: string, text: string): Finding {
  return { component, text, isProblem: false };
}
export function failedCheck(component: string, text: string): Finding {
  return { component, text, isProblem: true };
}
export function reasonOf(error: unknown): string {
  return (error as Error).message;
}
