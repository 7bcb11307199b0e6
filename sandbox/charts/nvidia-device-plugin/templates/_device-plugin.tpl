{{/* The part that picks a node's configuration out of the ConfigMap; a list of the release and whether it ends then. */}}
{{- define "device-plugin.config-manager" -}}
{{- $root := index . 0 -}}
command: [config-manager]
env:
  - name: ONESHOT
    value: {{ index . 1 | quote }}
  - name: NODE_NAME
    valueFrom:
      fieldRef:
        fieldPath: spec.nodeName
  - name: NODE_LABEL
    value: nvidia.com/device-plugin.config
  - name: CONFIG_FILE_SRCDIR
    value: /available-configs
  - name: CONFIG_FILE_DST
    value: /config/config.yaml
  - name: DEFAULT_CONFIG
    value: {{ $root.Values.config.default | quote }}
  - name: FALLBACK_STRATEGIES
    value: {{ join "," $root.Values.config.fallbackStrategies }}
volumeMounts: {{- include "device-plugin.mounts" $root | nindent 2 }}
{{- end -}}

{{- define "device-plugin.mounts" -}}
{{- if .Values.config.name -}}
- name: available-configs
  mountPath: /available-configs
- name: config
  mountPath: /config
{{- end -}}
{{- end -}}

{{- define "device-plugin.environment" -}}
{{- range $name, $value := dict
    "MIG_STRATEGY" .Values.migStrategy
    "FAIL_ON_INIT_ERROR" .Values.failOnInitError
    "PASS_DEVICE_SPECS" .Values.compatWithCPUManager
    "DEVICE_LIST_STRATEGY" .Values.deviceListStrategy
    "DEVICE_ID_STRATEGY" .Values.deviceIDStrategy }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- if .Values.config.name }}
- name: CONFIG_FILE
  value: /config/config.yaml
{{- end }}
- name: NVIDIA_VISIBLE_DEVICES
  value: all
- name: NVIDIA_DRIVER_CAPABILITIES
  value: compute,utility
{{- end -}}

{{/* As the real chart reads it off its values: SYS_ADMIN where MIG is, or may be, and for volume mounts. */}}
{{- define "device-plugin.security" -}}
{{- $mig := ne (.Values.migStrategy | default (ternary "unknown" "none" (ne .Values.config.name ""))) "none" }}
{{- $mounts := ternary (contains "volume-mounts" (.Values.deviceListStrategy | default "")) (ne .Values.config.name "") (kindIs "string" .Values.deviceListStrategy) }}
{{- if .Values.compatWithCPUManager }}
privileged: true
{{- else if or $mig $mounts }}
capabilities:
  add: [SYS_ADMIN]
{{- else }}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
{{- end }}
{{- end -}}
