/** A place with nothing to show says why, and what to do about it. */
import React from 'react';

import { CopyableCode } from './copyable';

export interface IEmptyProps {
  title: string;
  /** One sentence: why there is nothing. */
  reason?: string;
  /** What to type, if anything helps. */
  code?: string;
  /** `alert` where something is wrong; `status` where it is as it should be. */
  role?: 'status' | 'alert';
  icon?: JSX.Element;
  children?: React.ReactNode;
}

export function Empty({ title, reason, code, role = 'status', icon, children }: IEmptyProps): JSX.Element {
  return (
    <div className="stc-Empty" role={role}>
      {icon && (
        <div className="stc-Empty-icon" aria-hidden="true">
          {icon}
        </div>
      )}
      <div className="stc-Empty-title">{title}</div>
      {reason && <p className="stc-Empty-reason">{reason}</p>}
      {code && <CopyableCode code={code} />}
      {children}
    </div>
  );
}
